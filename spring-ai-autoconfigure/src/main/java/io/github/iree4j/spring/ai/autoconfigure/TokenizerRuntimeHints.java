package io.github.iree4j.spring.ai.autoconfigure;

import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;

/**
 * What a native image cannot see of DJL's tokenizers: the library and what says which one it is, and the classes that native code makes
 * instances of.
 */
final class TokenizerRuntimeHints implements RuntimeHintsRegistrar {

    /** For Spring. */
    TokenizerRuntimeHints() {}

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
        hints.resources()
                .registerPattern("native/lib/tokenizers.properties")
                .registerPattern("native/lib/*/cpu/*"); // others are never taken, see HuggingFaceTextTokenizer
        for (String made : new String[] {
            "ai.djl.huggingface.tokenizers.jni.CharSpan",
            "ai.djl.engine.EngineException",
            "java.lang.RuntimeException",
            "java.lang.UnsupportedOperationException"
        }) {
            hints.jni().registerType(TypeReference.of(made), MemberCategory.INVOKE_DECLARED_CONSTRUCTORS);
        }
        hints.jni().registerType(String.class); // of arrays
    }
}
