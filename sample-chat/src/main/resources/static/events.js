// Server-sent events of OpenAI's interface, as a generator of objects.

/** Posts a request, and yields the chunks of the answer. Throws the interface's own message for a failure. */
export async function* chunks(url, body, signal) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });
  if (!response.ok) {
    const answer = await response.json().catch(() => null);
    throw new Error(answer?.error?.message ?? `${response.status} ${response.statusText}`);
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) {
      throw new Error("the answer ended early");
    }
    const events = (rest + value).split("\n\n");
    rest = events.pop();
    for (const event of events) {
      const data = event
        .split("\n")
        .filter((line) => line.startsWith("data:"))
        .map((line) => line.slice(5).trim())
        .join("\n");
      if (data === "[DONE]") {
        await reader.cancel();
        return;
      }
      if (data) {
        const chunk = JSON.parse(data);
        if (chunk.error) {
          throw new Error(chunk.error.message);
        }
        yield chunk;
      }
    }
  }
}
