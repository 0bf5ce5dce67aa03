"""The library talks through the logger ``odefs`` and says nothing unless asked."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

logger = logging.getLogger("odefs")
logger.addHandler(logging.NullHandler())


@contextmanager
def verbose_logging(verbose: int) -> Iterator[None]:
    """Show the logger's messages on standard error while the block runs, if ``verbose`` is
    positive; whoever has set up a handler gets them there alone.
    """
    if verbose <= 0:
        yield
        return
    listened_to = any(not isinstance(handler, logging.NullHandler) for handler in logger.handlers)
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("[odefs] %(message)s"))
    level = logger.level
    if not listened_to:
        logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
