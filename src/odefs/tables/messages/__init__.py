"""Every sentence for the screen, the page, the Markdown and the files of results.

Sentences are made here from typed records and numbers, and nowhere taken apart again. Errors are
written where they are raised.
"""

from odefs.tables.messages.notes import convention_message, exclusion_message, note_message
from odefs.tables.messages.reasons import (
    kind,
    kind_details,
    reason_details,
    reason_place,
    reason_text,
    reason_usual,
    sentence,
    short_reason,
    trait,
)
from odefs.tables.messages.results import (
    flagged,
    headline,
    importances,
    kinds_from,
    labels,
    noise,
    ordinary,
    rule,
    sampled,
    trusted,
)
from odefs.tables.messages.scoring import (
    NO_DRIFT,
    drift,
    files_scored,
    flagged_share,
    model_saved,
    outputs_without_input,
    rows_scored,
    too_many_flagged,
    unreadable_column,
    unseen_categories,
)
from odefs.tables.messages.values import KIND_NAMES, count, number, percent, score, size, span, value, without_controls

__all__ = [
    "KIND_NAMES",
    "NO_DRIFT",
    "convention_message",
    "count",
    "drift",
    "exclusion_message",
    "files_scored",
    "flagged",
    "flagged_share",
    "headline",
    "importances",
    "kind",
    "kind_details",
    "kinds_from",
    "labels",
    "model_saved",
    "noise",
    "note_message",
    "number",
    "ordinary",
    "outputs_without_input",
    "percent",
    "reason_details",
    "reason_place",
    "reason_text",
    "reason_usual",
    "rows_scored",
    "rule",
    "sampled",
    "score",
    "sentence",
    "short_reason",
    "size",
    "span",
    "too_many_flagged",
    "trait",
    "trusted",
    "unreadable_column",
    "unseen_categories",
    "value",
    "without_controls",
]
