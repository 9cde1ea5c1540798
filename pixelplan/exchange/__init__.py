"""EXCHANGE with other programs: recordings and pictures come in, ONNX goes out."""
