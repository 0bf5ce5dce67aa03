"""Logger ``odefs``, which is silent by default."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

logger = logging.getLogger("odefs")
logger.addHandler(logging.NullHandler())


@contextmanager
def verbose_logging(verbose: int) -> Iterator[None]:
    """Show the logger's messages on standard error during the block if ``verbose`` is positive.

    If a handler is already configured, messages go only there.
    """
    if verbose <= 0:
        yield
        return
    has_handler = any(not isinstance(handler, logging.NullHandler) for handler in logger.handlers)
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("[odefs] %(message)s"))
    level = logger.level
    if not has_handler:
        logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
