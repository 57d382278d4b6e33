"""What TensorFlow Lite brings to a network like the thesis': claims of its section 2.3 and of its program's README.

pip install tensorflow-cpu && pytest -m slow tests/test_lite.py -s
"""

import statistics
import time

import numpy as np
import pytest

WIDTH, HIDDEN = 442, (550, 450, 400, 200, 100)
ROWS = (1, 10, 100)


def rate(score, seconds=1.0):
    """Calls a second."""
    score()
    calls, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        score()
        calls += 1
    return calls / (time.perf_counter() - began)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_tensorflow_lite_is_far_faster_and_smaller_than_the_model_it_is_made_of(tmp_path):
    tensorflow = pytest.importorskip("tensorflow")
    keras = tensorflow.keras
    layers = [keras.layers.Input((WIDTH,)), *(keras.layers.Dense(size, activation="relu") for size in HIDDEN)]
    model = keras.Sequential([*layers, keras.layers.Dense(1, activation="sigmoid")])
    model.compile(optimizer="adam", loss="binary_crossentropy")
    rows = np.random.default_rng(0).integers(0, 2, (1024, WIDTH)).astype(np.float32)
    model.fit(rows, rows[:, 0], epochs=1, verbose=0)  # with a step, the file has what Adam remembers too
    model.save(tmp_path / "model.keras")
    lite = tensorflow.lite.TFLiteConverter.from_keras_model(model).convert()
    smaller = (tmp_path / "model.keras").stat().st_size / len(lite)
    print(f"\nfile: {smaller:.1f} times as small ({len(lite):,} bytes)")
    by_rows = {}
    for count in ROWS:
        some = rows[:count]
        small = tensorflow.lite.Interpreter(model_content=lite, num_threads=1)
        inputs, outputs = small.get_input_details()[0]["index"], small.get_output_details()[0]["index"]
        small.resize_tensor_input(inputs, some.shape)
        small.allocate_tensors()

        def by_lite(small=small, inputs=inputs, outputs=outputs, some=some):
            small.set_tensor(inputs, some)
            small.invoke()
            return small.get_tensor(outputs)

        assert np.allclose(by_lite(), model.predict(some, verbose=0), atol=1e-4)
        ways = {"predict": lambda some=some: model.predict(some, verbose=0), "call": lambda some=some: model(some)}
        rounds = [{"lite": rate(by_lite)} | {way: rate(score) for way, score in ways.items()} for _ in range(5)]
        times = {way: [each["lite"] / each[way] for each in rounds] for way in ways}
        for way, own in times.items():
            print(f"{count} rows: {statistics.median(own):.0f} times as fast as {way} ({min(own):.0f}-{max(own):.0f})")
        by_rows[count] = statistics.median(times["predict"])
    assert by_rows[1] > by_rows[10] > by_rows[100] > 1
    assert smaller > 1
