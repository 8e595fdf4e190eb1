package io.github.iree4j.spring.ai.autoconfigure;

import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;

/**
 * Hints for native images with DJL's tokenizers: the native library with properties, and the classes instantiated by
 * native code.
 */
final class TokenizerRuntimeHints implements RuntimeHintsRegistrar {

    /** For Spring. */
    TokenizerRuntimeHints() {}

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
        hints.resources()
                .registerPattern("native/lib/tokenizers.properties")
                .registerPattern("native/lib/*/cpu/*"); // other libraries are never used, see HuggingFaceTextTokenizer
        for (String made : new String[] {
            "ai.djl.huggingface.tokenizers.jni.CharSpan",
            "ai.djl.engine.EngineException",
            "java.lang.RuntimeException",
            "java.lang.UnsupportedOperationException"
        }) {
            hints.jni().registerType(TypeReference.of(made), MemberCategory.INVOKE_DECLARED_CONSTRUCTORS);
        }
        hints.jni().registerType(String.class); // for arrays of strings
    }
}
