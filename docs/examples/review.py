"""
Learn from yes and no
=====================

The top of a ranking often mixes what you are looking for with what is merely unusual. In
this example, two kinds of rows stand out, and only one of them matters. A review asks about
one row at a time and ranks the others again after every answer.
"""

# %%
# Two small groups lie equally far from the rest. Only the first one is of interest.

import matplotlib.pyplot as plt
import numpy as np

import odefs

rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 8))
X[:30, :2] += 5
X[30:60, 2:4] += 5
matters = np.arange(len(X)) < 30

model = odefs.ODEFS(random_state=0).fit(X)
ranking = np.argsort(-model.outlier_scores_)
print(f"{matters[ranking[:40]].sum()} of the first 40 rows matter")

# %%
# The review starts with the same ranking. ``next`` names the row to look at, ``tell`` takes
# the answer: True, False, or None for "cannot say". Here the answers are known; in practice
# they are yours (``odefs review table.csv`` asks for them in the browser).

review = odefs.Review(model, X)
chances = []
for _ in range(40):
    row = review.next()[0]
    chances.append(review.chance)
    review.tell(row, bool(matters[row]))
print(f"{len(review.found)} of the 40 rows that were looked at matter")

# %%
# ``chance`` estimates whether the next row matters, a guide for when to stop.

figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 3.5), layout="constrained"
)
looks = np.arange(1, 41)
left.plot(looks, matters[ranking[:40]].cumsum(), label="ranking, never updated")
left.plot(looks, np.cumsum(review.answers), label="review")
left.set(xlabel="rows looked at", ylabel="found")
left.legend()
right.plot(looks, chances, color="C1")
right.set(xlabel="rows looked at", ylabel="chance of the next row", ylim=(0, 1))
plt.show()

# %%
# ``review.model()`` is a fitted model that has learned from the answers. It scores new rows,
# explains them, and saves.

new = rng.normal(size=(5, 8))
new[0, :2] += 5
new[1, 2:4] += 5
learned = review.model()
print("before", model.outlier_scores(new).round(2))
print("after ", learned.outlier_scores(new).round(2))

# %%
# The explanation names the answered rows that a row resembles. Contributions of the columns
# and what the answers add make up the score.

explained = learned.explain(new[:1])
for alike in explained.resembles()[0]:
    said = "confirmed" if alike.is_outlier else "rejected"
    print(f"resembles row {alike.row}, which you {said}: {alike.amount:+.2f}")
print(f"{explained.values.sum():.2f} + {explained.answers.total[0]:.2f}")
