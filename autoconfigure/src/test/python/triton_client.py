"""Triton's own clients against a server of ours: ports of HTTP and of gRPC are the arguments."""

import queue
import sys

import numpy as np
import tritonclient.grpc as grpcclient
import tritonclient.http as httpclient
from tritonclient.utils import InferenceServerException

TYPES = {
    "i1": ("BOOL", np.bool_),
    "ui8": ("UINT8", np.uint8),
    "ui16": ("UINT16", np.uint16),
    "ui32": ("UINT32", np.uint32),
    "ui64": ("UINT64", np.uint64),
    "si8": ("INT8", np.int8),
    "si16": ("INT16", np.int16),
    "si32": ("INT32", np.int32),
    "i64": ("INT64", np.int64),
    "f16": ("FP16", np.float16),
    "f32": ("FP32", np.float32),
    "f64": ("FP64", np.float64),
}


def tensor(module, name, datatype, array):
    made = module.InferInput(name, list(array.shape), datatype)
    made.set_data_from_numpy(array)
    return made


def check_models(client, grpc):
    assert client.is_server_live() and client.is_server_ready()
    assert client.is_model_ready("values") and client.is_model_ready("adder", "2")
    assert not client.is_model_ready("nothing")
    metadata = client.get_server_metadata(as_json=True) if grpc else client.get_server_metadata()
    assert metadata["name"] == "iree4j", metadata
    model = client.get_model_metadata("values", as_json=True) if grpc else client.get_model_metadata("values")
    assert [each["name"] for each in model["inputs"]] == ["a", "b"], model
    config = client.get_model_config("values.words", as_json=True)["config"] if grpc else client.get_model_config("values.words")
    assert config["input"][0]["data_type"] == "TYPE_STRING", config
    assert [int(dim) for dim in config["input"][0]["dims"]] == [-1], config


def check_repository(client, grpc):
    client.load_model("adder")
    client.unload_model("adder")
    assert not client.is_model_ready("adder")
    client.load_model("adder")
    assert client.is_model_ready("adder", "2")
    index = client.get_model_repository_index(as_json=True)["models"] if grpc else client.get_model_repository_index()
    assert ("adder", "2", "READY") in [(each["name"], each["version"], each["state"]) for each in index], index


def check_inference(client, module):
    for function, (datatype, dtype) in TYPES.items():
        sent = np.array([0, 1, 1, 0, 1], dtype=dtype)
        answer = client.infer("values.echo_" + function, [tensor(module, "x", datatype, sent)], request_id="7")
        np.testing.assert_array_equal(answer.as_numpy("y"), sent)
        assert answer.as_numpy("y").dtype == dtype
    words = np.array(["Grüße".encode(), b"", b"eighteen"], dtype=np.object_)
    answer = client.infer("values.words", [tensor(module, "words_in", "BYTES", words)])
    np.testing.assert_array_equal(answer.as_numpy("words_out"), words)
    large = np.arange(1 << 20, dtype=np.float32)
    answer = client.infer("values.echo_f32", [tensor(module, "x", "FP32", large)],
                          outputs=[module.InferRequestedOutput("y")])
    np.testing.assert_array_equal(answer.as_numpy("y"), large)
    for faulty in (
            lambda: client.infer("nothing", []),
            lambda: client.infer("values.echo_f32", [tensor(module, "x", "INT32", np.zeros(3, np.int32))]),
            lambda: client.infer("values.echo_f32", [tensor(module, "x", "FP32", large)],
                                 outputs=[module.InferRequestedOutput("z")])):
        try:
            faulty()
        except InferenceServerException as e:
            assert e.message(), e
        else:
            raise AssertionError("a faulty request was answered")


def check_imported(http, grpc):
    """A model imported from ONNX, whose module declares no types: two requests make the batch that each of them waits for."""
    for model in http.get_model_metadata("imported"), grpc.get_model_metadata("imported", as_json=True):
        values = [[each["name"], each["datatype"], [int(dim) for dim in each["shape"]]]
                  for each in model["inputs"] + model["outputs"]]
        assert values == [["input0", "FP32", [-1, 8]], ["input1", "INT64", [-1]],
                          ["output0", "FP32", [-1, 4]], ["output1", "INT64", [-1]]], model

    def inputs(module, number, offset):
        image = np.zeros((1, 8), np.float32)
        image[0, 0] = number
        return [tensor(module, "input0", "FP32", image), tensor(module, "input1", "INT64", np.array([offset], np.int64))]

    answers = queue.Queue()
    grpc.async_infer("imported", inputs(grpcclient, 1, 10), lambda result, error: answers.put((result, error)))
    answer = http.infer("imported", inputs(httpclient, -1, 20))
    other, error = answers.get(timeout=60)
    assert error is None, error
    for result, label in (answer, 23), (other, 10):
        assert result.as_numpy("output1").tolist() == [label], result.as_numpy("output1")
        np.testing.assert_allclose(result.as_numpy("output0").sum(axis=1), [1], rtol=1e-5)


def check_stream(client):
    answers = queue.Queue()
    client.start_stream(lambda result, error: answers.put((result, error)))
    for i in range(10):
        array = np.full(3, i, np.int8)
        client.async_stream_infer("values.echo_si8", [tensor(grpcclient, "x", "INT8", array)])
    client.async_stream_infer("nothing", [])
    for i in range(10):
        result, error = answers.get(timeout=60)
        assert error is None, error
        assert list(result.as_numpy("y")) == [i] * 3
    result, error = answers.get(timeout=60)
    assert result is None and "nothing" in str(error), error
    client.stop_stream()


def main(http_port, grpc_port):
    http = httpclient.InferenceServerClient("localhost:" + http_port)
    grpc = grpcclient.InferenceServerClient("localhost:" + grpc_port)
    check_models(http, False)
    check_models(grpc, True)
    check_inference(http, httpclient)
    check_inference(grpc, grpcclient)
    check_imported(http, grpc)
    check_stream(grpc)
    check_repository(http, False)
    check_repository(grpc, True)
    try:
        grpc.infer("spinner", [], client_timeout=0.5)
    except InferenceServerException as e:
        assert "DEADLINE_EXCEEDED" in str(e.status()), e
    else:
        raise AssertionError("a call that never ends was answered")
    print("tritonclient is satisfied")


main(*sys.argv[1:])
