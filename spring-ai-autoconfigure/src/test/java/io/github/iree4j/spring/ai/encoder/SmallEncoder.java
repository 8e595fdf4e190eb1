package io.github.iree4j.spring.ai.encoder;

import java.nio.file.Path;

/** The encoder and the reranker of the sample, compiled by iree-compile. */
public final class SmallEncoder {

    /** Where its files are. */
    public static final Path DIRECTORY = Path.of("../sample-search/src/main/resources/models");

    /** Numbers of an embedding. */
    public static final int DIMENSIONS = 128;

    private SmallEncoder() {}

    /** Configures it as module {@code encoder}. */
    public static String[] properties() {
        return new String[] {
            "iree.modules.encoder.location=file:" + DIRECTORY.resolve("encoder.vmfb"),
            "iree.modules.encoder.parameters.encoder=file:" + DIRECTORY.resolve("encoder.irpa"),
            "iree.ai.embedding.module=encoder",
            "iree.ai.embedding.tokenizer=file:" + DIRECTORY.resolve("tokenizer.json"),
        };
    }

    /** Configures the reranker as module {@code reranker}. */
    public static String[] rerankerProperties() {
        return new String[] {
            "iree.modules.reranker.location=file:" + DIRECTORY.resolve("reranker.vmfb"),
            "iree.modules.reranker.parameters.encoder=file:" + DIRECTORY.resolve("encoder.irpa"),
            "iree.ai.reranker.module=reranker",
            "iree.ai.reranker.tokenizer=file:" + DIRECTORY.resolve("tokenizer.json"),
            "iree.ai.reranker.inputs=input-ids,attention-mask,token-type-ids",
            "iree.ai.reranker.activation=none",
        };
    }
}
