"""Which names behind whole numbers are units: not those of months, nor most words in capitals.

``24 May`` is a date, and ``711 ABC`` and ``1061 AA`` are codes, but ``70 KG`` is a weight.
"""

import re

from odefs.tables.encoder.named_months import MONTHS

MONTH_NAMES = frozenset([*MONTHS, *(name[:3] for name in MONTHS), "sept"])
CAPITALS = frozenset(
    " ".join(
        (
            "MM CM DM KM FT YD NM SQM SQFT HA MG KG LB OZ ML CL DL GAL BBL",
            "MS SEC MIN HR DAY WEEK MONTH YEAR YR",
            "HZ KHZ MHZ GHZ RPM BPM FPS KB MB GB TB PB KBPS MBPS GBPS DPI PX",
            "KW MW GW WH KWH MWH GWH KV MV MA MAH KVA BTU HP PS PA KPA MPA HPA PSI BAR",
            "KPH KMH MPH KN PPM PPB DB LUX LM NTU IU KCAL CAL KJ MJ PCS EA FTE PCT",
            "AED ARS BGN BRL CLP CNY COP CZK DKK EGP HKD HUF IDR ILS ISK KRW MXN MYR NGN NOK",
            "NZD PEN PHP PKR PLN RMB RON RUB SAR SEK SGD THB TRY TWD UAH VND ZAR EURO",
        )
    ).split()
)
"""Units and currencies that tables write in capitals."""


def is_unit_name(unit: str) -> bool:
    """Whether a name behind whole numbers is that of a unit."""
    return unit.lower() not in MONTH_NAMES and all(map(_is_unit, re.split(r"[/·*]", unit)))


def _is_unit(part: str) -> bool:
    """Whether a part of a unit is in lower case, of one letter, or a unit in capitals."""
    letters = part.rstrip("^23")
    are_capitals = len(letters) > 1 and letters.isascii() and letters.isupper()
    return not are_capitals or not CAPITALS.isdisjoint((letters, letters.removesuffix("S")))
