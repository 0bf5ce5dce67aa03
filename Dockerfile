# odefs on the command line:
#   docker build --tag odefs .
#   docker run --rm --volume "$PWD:/data" --user "$(id -u):$(id -g)" odefs detect table.csv
# The digest is that of the index for all architectures (amd64 and arm64 among them); Dependabot renews it.
FROM docker.io/library/python:3.13.15-slim-trixie@sha256:9d2e5553305c7c7b0097999bb17187c69b921ccd6bc9d40e4bb5ebe652c00285 AS base

FROM base AS build
# A compiler for the kernel; its version is that of the base image's Debian.
# hadolint ignore=DL3008
RUN apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/*
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
RUN python -m venv /opt/odefs
WORKDIR /build
COPY requirements/core.txt requirements/detect.txt requirements/
RUN /opt/odefs/bin/python -m pip install --require-hashes --no-deps --only-binary=:all: -r requirements/detect.txt
COPY . .
# setuptools, which detect.txt brings, builds the wheel; the image needs neither it nor pip.
RUN ODEFS_REQUIRE_KERNEL=1 /opt/odefs/bin/python -m pip install --no-deps --no-build-isolation . \
    && /opt/odefs/bin/python -c "from odefs.kernels.compiled import describe_kernel as d; assert d().startswith('compiled'), d()" \
    && /opt/odefs/bin/python -m pip uninstall --yes setuptools pip

FROM base
LABEL org.opencontainers.image.title="odefs" \
      org.opencontainers.image.description="Find outliers in wide, noisy tables, and see which columns gave them away" \
      org.opencontainers.image.source="https://github.com/odefs/odefs" \
      org.opencontainers.image.licenses="BSD-3-Clause"
COPY --from=build /opt/odefs /opt/odefs
# Nothing is written but to /data and the folder for temporary files, so the root file system can be mounted read-only.
ENV PATH=/opt/odefs/bin:$PATH PYTHONDONTWRITEBYTECODE=1 HOME=/tmp
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin odefs \
    && install --directory --owner=odefs --group=odefs /data
USER 10001
WORKDIR /data
ENTRYPOINT ["odefs"]
CMD ["--help"]
