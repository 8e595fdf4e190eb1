"""OpenAI's own client against a server of ours: the port and a part of the checks are the arguments."""

import math
import sys

import openai
from openai import OpenAI

TEXT = "Grüezi, 世界 🎉"
HI = [{"role": "user", "content": "Hi"}]
WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Tells the weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}


def check_answers(client):
    answer = client.chat.completions.create(model="chat", messages=HI, temperature=0.5, seed=1, user="me")
    assert answer.choices[0].message.content == TEXT, answer
    assert answer.choices[0].finish_reason == "stop", answer
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens, answer
    chunks = list(client.chat.completions.create(model="chat", messages=HI, stream=True, stream_options={"include_usage": True}))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == TEXT, chunks
    assert chunks[0].choices[0].delta.role == "assistant", chunks
    assert chunks[-1].usage == answer.usage, chunks
    with client.chat.completions.stream(model="chat", messages=HI) as stream:
        stream.until_done()
        assert stream.get_final_completion().choices[0].message.content == TEXT
    several = client.chat.completions.create(model="chat", messages=HI, n=2, max_tokens=3, stop=["x", "y"])
    assert [choice.message.content for choice in several.choices] == ["Gr\ufffd"] * 2, several
    assert several.choices[1].finish_reason == "length", several


def check_completions(client):
    answer = client.completions.create(model="chat", prompt=["a", "b"])
    assert [choice.text for choice in answer.choices] == [TEXT, TEXT], answer
    assert client.completions.create(model="chat", prompt=[72, 105]).choices[0].text == TEXT
    text = "".join(chunk.choices[0].text for chunk in client.completions.create(model="chat", prompt="a", stream=True))
    assert text == TEXT, text


def check_embeddings(client):
    # The client asks for base64 unless told otherwise.
    packed = client.embeddings.create(model="encoder", input=["A man is eating food.", "other"])
    plain = client.embeddings.create(model="encoder", input="A man is eating food.", encoding_format="float")
    assert len(packed.data) == 2 and packed.usage.prompt_tokens > plain.usage.prompt_tokens > 0, packed
    for one, other in zip(packed.data[0].embedding, plain.data[0].embedding, strict=True):
        assert math.isclose(one, other, rel_tol=1e-6), (one, other)
    assert len(client.embeddings.create(model="encoder", input="a", dimensions=8).data[0].embedding) == 8


def check_models(client):
    assert [model.id for model in client.models.list()] == ["chat", "encoder"]
    assert client.models.retrieve("encoder").owned_by == "iree4j"


def check_errors(client):
    try:
        client.chat.completions.create(model="gpt-5", messages=HI)
        raise AssertionError("another model answered")
    except openai.NotFoundError as e:
        assert e.code == "model_not_found" and e.param == "model", e
    try:
        client.chat.completions.create(model="chat", messages=HI, reasoning_effort="low")
        raise AssertionError("a parameter was ignored")
    except openai.BadRequestError as e:
        assert e.param == "reasoning_effort" and e.type == "invalid_request_error", e
    try:
        client.responses.create(model="chat", input="Hi")
        raise AssertionError("there is an interface of responses")
    except openai.NotFoundError as e:
        assert "chat/completions" in str(e), e


def check_tools(client):
    answer = client.chat.completions.create(model="chat", messages=HI, tools=[WEATHER])
    message = answer.choices[0].message
    assert answer.choices[0].finish_reason == "tool_calls" and message.content is None, answer
    call = message.tool_calls[0]
    assert (call.function.name, call.function.arguments) == ("weather", '{"city":"Bern"}'), call
    with client.chat.completions.stream(model="chat", messages=HI, tools=[WEATHER]) as stream:
        stream.until_done()
        streamed = stream.get_final_completion().choices[0].message.tool_calls[0]
        assert (streamed.id, streamed.function.arguments) == (call.id, call.function.arguments), streamed
    result = {"role": "tool", "tool_call_id": call.id, "content": "sunny"}
    client.chat.completions.create(model="chat", messages=[*HI, message, result], tools=[WEATHER])


def check_leaving(client):
    stream = client.chat.completions.create(model="chat", messages=HI, stream=True)
    for chunk in stream:
        if chunk.choices[0].delta.content:
            break
    stream.close()


def main():
    client = OpenAI(api_key="unused", base_url=f"http://localhost:{sys.argv[1]}/v1", max_retries=0, timeout=60)
    parts = {
        "answers": [check_answers, check_completions, check_embeddings, check_models, check_errors],
        "tools": [check_tools],
        "leave": [check_leaving],
    }
    for check in parts[sys.argv[2]]:
        check(client)
    print("openai is satisfied")


main()
