#!/usr/bin/env python3
"""Images and what Pillow's bilinear resize makes of them, as a fixture for resize.spec.ts.

Run with an interpreter that has Pillow: /usr/bin/python3 libs/nodes/data/golden/resize.py
"""
import json
import os
import random

import PIL
from PIL import Image

CASES = [(28, 28, 32), (28, 28, 14), (28, 28, 7), (9, 5, 12), (5, 9, 3), (6, 6, 6), (6, 11, 6), (1, 1, 4), (10, 3, 1)]


def main():
    numbers = random.Random(5)
    cases = []
    for height, width, size in CASES:
        pixels = [numbers.choice([0, 255, numbers.randrange(256)]) for _ in range(height * width)]
        image = Image.frombytes("L", (width, height), bytes(pixels))
        resized = image.resize((size, size), Image.BILINEAR)
        cases.append({"height": height, "width": width, "size": size, "pixels": pixels, "resized": list(resized.tobytes())})
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "resize.json")
    with open(path, "w") as file:
        json.dump({"pillow": PIL.__version__, "cases": cases}, file)
        file.write("\n")


main()
