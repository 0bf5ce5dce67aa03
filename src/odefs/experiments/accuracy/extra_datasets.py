"""Fourteen public datasets that are not the paper's: names and sources.

They are not distributed with the project. Files are searched for as ``more/NAME.npz`` (arrays X and
y) in the dataset folders; records contain the SHA-256 of the file.
"""

ADBENCH = "Minqi824/ADBench, adbench/datasets"
PANG = "GuansongPang/ADRepository-Anomaly-detection-datasets"
YUAN = "BELLoney/Outlier-detection, Nominal"
UCR = "UCR archive; iwuqing/Time-Series-Classification-based-on-KNN, data"

SOURCES: dict[str, str] = {
    "svhn_9": f"{ADBENCH}/CV_by_ResNet18/SVHN_9.npz",
    "mvtec_hazelnut": f"{ADBENCH}/CV_by_ResNet18/MVTec-AD_hazelnut.npz",
    "mvtec_transistor_vit": f"{ADBENCH}/CV_by_ViT/MVTec-AD_transistor.npz",
    "wafer": f"{UCR}/Wafer/Wafer_TRAIN.tsv",
    "connect4": f"{YUAN}/trandata/connect_4_draw_1247_variant1.mat, one-hot",
    "mushroom": f"{YUAN}/original/mushroom_p_221_variant1ori.csv, one-hot",
    "covertype": f"{PANG}, categorical data/covertype_nominal_4vs123567.tar.xz",
    "solar_flare": f"{PANG}, categorical data/solar-flare_FvsAll-cleaned.arff, one-hot",
    "chess": f"{PANG}, categorical data/chess_krkopt_zerovsall.arff, one-hot",
    "aloi": f"{ADBENCH}/Classical/1_ALOI.npz",
    "annthyroid": f"{PANG}, numerical data/DevNet datasets/annthyroid_21feat_normalised.csv",
    "pendigits": f"{ADBENCH}/Classical/28_pendigits.npz",
    "shuttle": f"{ADBENCH}/Classical/32_shuttle.npz",
    "mammography": f"{ADBENCH}/Classical/23_mammography.npz",
}


def file_of(name: str) -> str:
    """Return the name of the dataset in the grid."""
    return f"more/{name}.npz"


def short(dataset: str) -> str:
    """Return the name of the dataset on a page."""
    return dataset.removeprefix("more/").removesuffix(".npz")
