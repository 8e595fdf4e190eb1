package io.github.iree4j.spring.ai;

import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import java.nio.file.Path;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.io.FileSystemResource;

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

    /** Returns an application with the module, in a folder. */
    static ApplicationContextRunner runner(Path folder) {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(IreeAutoConfiguration.class))
                .withPropertyValues(properties(folder));
    }

    /** Returns settings of a chat with the module, after {@link #properties}. */
    static ChatSettings.Builder settings(Path folder) {
        return ChatSettings.builder("chat", new FileSystemResource(folder.resolve("tokenizer.json")))
                .config(new FileSystemResource("../fixtures/generation/decoder.json"))
                .pages(64);
    }
}
