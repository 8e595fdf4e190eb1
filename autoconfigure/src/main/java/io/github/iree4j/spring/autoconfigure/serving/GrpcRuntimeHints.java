package io.github.iree4j.spring.autoconfigure.serving;

import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.util.ClassUtils;

/**
 * Hints for the description of the gRPC service given by reflection to clients: Protocol Buffers' own descriptors are
 * messages, whose fields the Protocol Buffers library reads by method names.
 */
final class GrpcRuntimeHints implements RuntimeHintsRegistrar {

    private static final String DESCRIPTORS = "com.google.protobuf.DescriptorProtos";

    /** For Spring. */
    GrpcRuntimeHints() {}

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
        if (ClassUtils.isPresent(DESCRIPTORS, classLoader)) {
            registerNested(hints, ClassUtils.resolveClassName(DESCRIPTORS, classLoader));
        }
    }

    private static void registerNested(RuntimeHints hints, Class<?> type) {
        for (Class<?> nested : type.getDeclaredClasses()) {
            hints.reflection().registerType(nested, MemberCategory.INVOKE_PUBLIC_METHODS);
            registerNested(hints, nested);
        }
    }
}
