"""A plugin for pytest that lets the tests of llama.cpp's server ask a server of ours, with $PORT. It changes three things: paths without
/v1 get it, names of models are ours, and patterns match any text, since they are words of their model. docs/openai.md
says why other tests do not fit."""

import os
import sys

sys.path.insert(0, os.getcwd())

import openai.resources
import openai.resources.chat
import utils

utils.match_regex = lambda pattern, text: isinstance(text, str)
os.environ["DEBUG_EXTERNAL"] = "1"

make_url = utils.ServerProcess.make_url


def make_versioned_url(self, path, *others):
    return make_url(self, path if path.startswith("/v1/") else "/v1" + path, *others)


utils.ServerProcess.make_url = make_versioned_url


def naming(of, model):
    create = of.create

    def create_of_our_model(self, **parameters):
        return create(self, **{**parameters, "model": model})

    of.create = create_of_our_model


naming(openai.resources.chat.Completions, "chat")
naming(openai.resources.Completions, "chat")
naming(openai.resources.Embeddings, "encoder")


FITTING = {
    "test_chat_completion.py": ["test_completion_with_response_format", "test_invalid_chat_completion_req"],
    "test_completion.py": ["test_completion_stream_with_openai_library", "test_completion_stream_with_openai_library_stops"],
    "test_embedding.py": [
        "test_embedding_single",
        "test_embedding_multiple",
        "test_embedding_multiple_with_fa",
        "test_embedding_invalid_input",
        "test_embedding_pooling_mean",
        "test_embedding_pooling_mean_multiple",
        "test_embedding_openai_library_single",
        "test_embedding_openai_library_multiple",
        "test_same_prompt_give_same_result",
        "test_embedding_openai_library_base64",
    ],
}
# Two answers of the assistant in a row are no fault here, and a 'json_object' has no 'schema'.
CASES_THAT_DO_NOT_FIT = (
    "test_invalid_chat_completion_req[messages7]",
    "test_completion_with_response_format[response_format0-",
    "test_completion_with_response_format[response_format1-",
)


def pytest_collection_modifyitems(config, items):
    items[:] = [
        item
        for item in items
        if item.originalname in FITTING.get(item.path.name, []) and not item.name.startswith(CASES_THAT_DO_NOT_FIT)
    ]
