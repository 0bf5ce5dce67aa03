"""Type of the options that take a share of rows: ``0.05`` or ``5%``."""

import math

import click


class ShareType(click.FloatRange):
    """``0.05`` or ``5%``, within a range."""

    name = "share"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        text = str(value).strip()
        try:
            number = float(text.removesuffix("%"))
        except ValueError:
            number = math.nan
        # Not left to the comparison with the range, which NaN would pass.
        if math.isnan(number):
            raise click.BadParameter(
                f"{text!r} is not a share of the rows (0.05) or a percentage (5%)."
            )
        share: float = super().convert(number / 100 if text.endswith("%") else number, param, ctx)
        return share
