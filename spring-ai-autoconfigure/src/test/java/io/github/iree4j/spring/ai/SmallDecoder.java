package io.github.iree4j.spring.ai;

import java.nio.file.Path;

/** A decoder with random weights, compiled by iree-compile, and files for a tokenizer of bytes. */
public final class SmallDecoder {
    private static final Path FIXTURES = Path.of("../fixtures");

    private SmallDecoder() {}

    /** Configures it as module {@code chat}, with a tokenizer in a folder. */
    public static String[] properties(Path folder) {
        ByteTokenizer.write(folder);
        return new String[] {
            "iree.modules.chat.location=file:" + FIXTURES.resolve("modules/3.13.0/generation/decoder.vmfb"),
            "iree.modules.chat.parameters.model=file:" + FIXTURES.resolve("parameters/decoder.irpa"),
            "iree.ai.chat.module=chat",
            "iree.ai.chat.config=file:" + FIXTURES.resolve("generation/decoder.json"),
            "iree.ai.chat.tokenizer=file:" + folder.resolve("tokenizer.json"),
            "iree.ai.chat.pages=80",
            "iree.ai.chat.max-tokens=24",
        };
    }
}
