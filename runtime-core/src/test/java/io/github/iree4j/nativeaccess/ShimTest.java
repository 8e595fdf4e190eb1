package io.github.iree4j.nativeaccess;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.status.StatusCode;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Declarations that exist in both C and Java agree. */
class ShimTest {
    @BeforeAll
    static void load() {
        NativeLibrary.ensureAvailable();
    }

    @Test
    void everyNativeMethodIsRegisteredAndNoOther() {
        List<String> declared = Stream.of(Shim.class, GpuShim.class, VulkanShim.class)
                .flatMap(c -> Arrays.stream(c.getDeclaredMethods()))
                .filter(m -> Modifier.isNative(m.getModifiers()))
                .map(m -> m.getName() + descriptor(m))
                .toList();
        List<String> registered = new ArrayList<>();
        for (int i = 0; i < Shim.methodCount(); i++) {
            int index = i;
            registered.add(Shim.text((out, capacity) -> Shim.methodName(index, out, capacity))
                    + Shim.text((out, capacity) -> Shim.methodSignature(index, out, capacity)));
        }
        assertThat(registered).containsExactlyInAnyOrderElementsOf(declared);
    }

    private static String descriptor(Method m) {
        StringBuilder text = new StringBuilder("(");
        for (Class<?> type : m.getParameterTypes()) {
            text.append(type.descriptorString());
        }
        return text.append(')').append(m.getReturnType().descriptorString()).toString();
    }

    @Test
    void statusCodesHaveTheSameNumbersAndNames() {
        for (StatusCode code : StatusCode.values()) {
            assertThat(name(code.number())).isEqualTo(code.name());
        }
        assertThat(name(StatusCode.values().length)).isEqualTo("UNKNOWN");
    }

    private static String name(int number) {
        return Shim.text((out, capacity) -> Shim.statusName(number, out, capacity));
    }

    @Test
    void vulkanFeaturesAndKindsHaveTheSameNumbersAndNames() {
        for (VulkanFeature feature : VulkanFeature.values()) {
            assertThat(featureName(feature.ordinal())).isEqualTo(feature.name());
        }
        assertThat(featureName(VulkanFeature.values().length)).isEmpty();
        for (String kind : VulkanApi.KINDS) {
            assertThat(kindName(VulkanApi.KINDS.indexOf(kind))).isEqualTo(kind);
        }
        assertThat(kindName(VulkanApi.KINDS.size())).isEmpty();
    }

    @Test
    void kindsOfObjectsOfGpusHaveTheSameNumbersAndNames() {
        for (int kind = 0; kind <= GpuDevice.KINDS.size(); kind++) {
            int number = kind;
            assertThat(Shim.text((out, capacity) -> GpuShim.kindName(number, out, capacity)))
                    .isEqualTo(kind < GpuDevice.KINDS.size() ? GpuDevice.KINDS.get(kind) : "");
        }
    }

    private static String featureName(int bit) {
        return Shim.text((out, capacity) -> VulkanShim.featureName(bit, out, capacity));
    }

    private static String kindName(int kind) {
        return Shim.text((out, capacity) -> VulkanShim.kindName(kind, out, capacity));
    }

    @Test
    void longTextIsReadWhole() {
        String text = Shim.text((out, capacity) -> {
            byte[] bytes = "ü".repeat(300).getBytes(java.nio.charset.StandardCharsets.UTF_8);
            writeBytes(out, bytes, Math.min(capacity, bytes.length));
            return bytes.length;
        });
        assertThat(text).isEqualTo("ü".repeat(300));
    }

    @SuppressWarnings("restricted")
    private static void writeBytes(long address, byte[] bytes, int count) {
        java.lang.foreign.MemorySegment.ofAddress(address)
                .reinterpret(count)
                .copyFrom(java.lang.foreign.MemorySegment.ofArray(bytes).asSlice(0, count));
    }
}
