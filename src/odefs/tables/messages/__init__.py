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
    drift,
    flagged,
    headline,
    labels,
    model_saved,
    noise,
    ordinary,
    outputs_without_input,
    rule,
    sampled,
    trusted,
    unreadable_column,
    unseen_categories,
)
from odefs.tables.messages.values import KIND_NAMES, count, number, percent, score, size, span, value, without_controls

__all__ = [
    "KIND_NAMES",
    "convention_message",
    "count",
    "drift",
    "exclusion_message",
    "flagged",
    "headline",
    "kind",
    "kind_details",
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
    "rule",
    "sampled",
    "score",
    "sentence",
    "short_reason",
    "size",
    "span",
    "trait",
    "trusted",
    "unreadable_column",
    "unseen_categories",
    "value",
    "without_controls",
]
