#!/usr/bin/env bash
# Unpacks nvcc and nvCOMP from NVIDIA's wheels on PyPI into FOLDER: `toolkit.sh FOLDER`. Nothing is installed, and no GPU is
# needed to compile.
set -euo pipefail
folder=$1
wheels=(nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-cuda-runtime==13.0.96
    nvidia-libnvcomp-cu13==6.0.0.12)
packed=$(mktemp -d)
trap 'rm -rf "$packed"' EXIT
python3 -m pip download --quiet --no-deps --only-binary :all: --dest "$packed" "${wheels[@]}"
mkdir -p "$folder"
for wheel in "$packed"/*.whl; do python3 -m zipfile --extract "$wheel" "$folder"; done
# Archives of Python lose what may be run.
chmod +x "$folder"/nvidia/cu13/bin/* "$folder"/nvidia/cu13/nvvm/bin/*
echo "nvcc and nvCOMP are in $folder"
