"""Fourteen public datasets that are not the paper's: names, and where they come from. They are not
distributed with the project.

Files are looked for as ``more/NAME.npz`` (arrays X and y) in the folders of the datasets; records
hold the sha256 of the file.
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
    """What the grid calls the dataset."""
    return f"more/{name}.npz"


def short(dataset: str) -> str:
    """The dataset's name as a page shows it."""
    return dataset.removeprefix("more/").removesuffix(".npz")
