# kernel-zoo on a machine with a GPU, its driver and the NVIDIA Container Toolkit:
#   docker build -t kernel-zoo .
#   docker run --rm --gpus all -v "$PWD/results:/kernel-zoo/results" kernel-zoo run ladder
FROM debian:13 AS tools

RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates python3-venv

# What changes seldom comes first: the libraries, nvcc and cuBLAS.
WORKDIR /kernel-zoo
COPY zoo ./
COPY scripts ./scripts
RUN ./zoo setup --cuda

# .devcontainer ends here, and builds the working tree.
FROM tools
# No GPU is seen while an image is built: code for Ampere and Hopper, and PTX for what comes later.
ENV CUDAARCHS="80-real;90a-real;90-virtual"
COPY . ./
RUN ./zoo build --device cuda

# --gpus decides which GPUs; this one, that their driver's libraries and nvidia-smi come along.
ENV NVIDIA_DRIVER_CAPABILITIES=compute,utility
ENTRYPOINT ["./zoo"]
CMD ["run"]
