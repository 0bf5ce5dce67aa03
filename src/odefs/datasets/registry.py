"""Registry of the paper's twelve datasets: description, source and checksums."""

from dataclasses import dataclass

ADREPOSITORY = (
    "GuansongPang/ADRepository-Anomaly-detection-datasets",
    "3361daccc4384a60025b6b684ccf55699decbed5",
)
ADVERTISEMENTS = "suhailkhan0/Ad-NonAd-Prediction", "1c1845af186e7393f9ef4a7d4f8770432415447c"
PYOD = "yzhao062/pyod", "34f7996effac700a5166d882d5e94c6e6078fae3"

UCI = "terms stated per dataset by the UCI Machine Learning Repository"
UNKNOWN = "no licence found; cite the source"


@dataclass(frozen=True)
class Entry:
    """One dataset.

    ``digest`` covers name, dtype, shape and bytes of its converted arrays
    (:func:`odefs.datasets.store.digest`). ``blob`` is git's id of the source file if known
    (``git hash-object``), or of the file inside if the source is an archive.
    """

    name: str
    shape: tuple[int, int]
    outliers: int
    repository: tuple[str, str]
    path: str
    converter: str
    digest: str | None
    licence: str
    citation: str
    note: str = ""
    blob: str = ""

    @property
    def url(self) -> str:
        """Address of the source file at a fixed commit."""
        repository, commit = self.repository
        return f"https://raw.githubusercontent.com/{repository}/{commit}/{self.path}".replace(
            " ", "%20"
        )


_KDD = "KDD Cup 1999 data, UCI; nominal version of G. Pang et al., ADRepository"
_ODDS = "S. Rayana, ODDS Library, Stony Brook University, 2016"

ENTRIES = (
    Entry(
        "advertisements",
        (3279, 1555),
        459,
        ADVERTISEMENTS,
        "data/ad-dataset.zip",
        "advertisements",
        "844f159d9f44f77940090c98ffb17ae67ab1d06a4f1db7b5fe007449aee58a19",
        UCI,
        "N. Kushmerick, Internet Advertisements, UCI, 1998",
        "the paper counts 454 outliers; the three continuous columns are dropped, in agreement "
        "with its number of columns",
        "4e776d192fd4418aa0724854673811cb71075ac8",
    ),
    Entry(
        "aid362",
        (4279, 114),
        60,
        ADREPOSITORY,
        "categorical data/AID362red_train_allpossiblenominal.arff",
        "arff_numbers",
        "1d678cd7e4ce005b546d815233e49a131cbeffc88823653a2ed677a53b1f6f55",
        UCI,
        "PubChem bioassay AID362; A. Schierz, PubChem Bioassay Data, UCI, 2009",
    ),
    Entry(
        "apascal",
        (12695, 64),
        176,
        ADREPOSITORY,
        "categorical data/apascal_entire_trainvsall.arff",
        "arff_numbers",
        "e1ba39640c2de0b7b21a0fc73f45266862b4a89bef7f2160f87b32bae36dd86e",
        UNKNOWN,
        "A. Farhadi et al., Describing objects by their attributes, CVPR 2009",
    ),
    Entry(
        "bank",
        (41188, 53),
        4640,
        ADREPOSITORY,
        "categorical data/bank-additional-ful-nominal.arff",
        "arff_one_hot",
        "f4f9b56191eb782263fb535b9ecb15e254e98e5e83c95d895d700e69166751ca",
        UCI,
        "S. Moro, P. Cortez, P. Rita, Bank Marketing, UCI, 2014",
    ),
    Entry(
        "probe",
        (64759, 67),
        4166,
        ADREPOSITORY,
        "categorical data/kddcup99-corrected-probevsnormal-nominal-cleaned.arff",
        "arff_one_hot",
        "c86b983df2241d0cf65b73a1f8ec27fdf18f4ff6f0ebdc38852967c167e9bafc",
        UCI,
        _KDD,
    ),
    Entry(
        "u2r",
        (60821, 40),
        228,
        ADREPOSITORY,
        "categorical data/kddcup99-corrected-u2rvsnormal-nominal-cleaned.arff",
        "arff_one_hot",
        "4f4e53605f6c821d0ab9f685a2c574f35eaec5d84906e3d6553eb3b973cec2ca",
        UCI,
        _KDD,
    ),
    Entry(
        "arrhythmia",
        (452, 257),
        66,
        PYOD,
        "examples/data/arrhythmia.mat",
        "mat_without_zeros",
        "658fd6b8f0f829096cf81d9523d60717b432218bfa799d8e1d5e40a015f6c8dd",
        UCI,
        f"Arrhythmia, UCI; {_ODDS}",
        "the paper counts 256 columns; 17 columns of zeros are dropped here",
    ),
    Entry(
        "mnist",
        (7603, 100),
        700,
        PYOD,
        "notebooks/data/mnist.mat",
        "mat",
        "c873895fd9c7b994d28c1e983ee65a5beb460711525ae72e52d43e4e672325f9",
        UNKNOWN,
        f"Y. LeCun et al., MNIST; {_ODDS}",
    ),
    Entry(
        "musk",
        (3062, 166),
        97,
        PYOD,
        "notebooks/data/musk.mat",
        "mat",
        "a9e2b289b92007a656e75cfc31d405bb2167f647ccefaa4ca00937fb6d79ff35",
        UCI,
        f"Musk, UCI; {_ODDS}",
    ),
    Entry(
        "optdigits",
        (5216, 64),
        150,
        PYOD,
        "notebooks/data/optdigits.mat",
        "mat",
        "605fdfa4a1adb01eeeb38b1a22b9784700d9e97edde00e574bc428dcc963a1bb",
        UCI,
        f"Optical Recognition of Handwritten Digits, UCI; {_ODDS}",
    ),
    Entry(
        "speech",
        (3686, 400),
        61,
        PYOD,
        "notebooks/data/speech.mat",
        "mat",
        None,
        UNKNOWN,
        _ODDS,
        "no readable copy was found when the others were collected; a download is checked by its "
        "shape and by git's id of the ODDS file",
        "6562d481c9e587a951118cac466bee716bb157c4",
    ),
    Entry(
        "census",
        (299285, 503),
        18568,
        ADREPOSITORY,
        "categorical data/census-income-full-nominal.tar.xz",
        "tar_arff_one_hot",
        "257516f458663922351fc22cf9f0ad9f07e89c175c73201cfc8b39a355cac4ab",
        UCI,
        "Census-Income (KDD), UCI",
    ),
)

BY_NAME = {entry.name: entry for entry in ENTRIES}
