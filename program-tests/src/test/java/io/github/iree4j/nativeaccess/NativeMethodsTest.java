package io.github.iree4j.nativeaccess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The native methods of the core and of all drivers match the library. */
class NativeMethodsTest {
    private static final List<Class<?>> OF_DRIVERS = List.of(
            named("io.github.iree4j.nativeaccess.vulkan.VulkanShim"),
            named("io.github.iree4j.nativeaccess.gpu.GpuShim"));

    private static Class<?> named(String name) {
        try {
            return Class.forName(name);
        } catch (ClassNotFoundException e) {
            throw new AssertionError(e);
        }
    }

    @BeforeAll
    static void load() {
        NativeLibrary.ensureAvailable();
    }

    @Test
    void everyNativeMethodIsRegisteredAndNoOther() {
        List<String> declared = classes().stream()
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

    private static List<Class<?>> classes() {
        List<Class<?>> all = new ArrayList<>(OF_DRIVERS);
        all.add(Shim.class);
        return all;
    }

    @Test
    void methodsOfDriversAreBoundAnyNumberOfTimes() {
        for (Class<?> each : OF_DRIVERS) {
            assertThatNoException().isThrownBy(() -> {
                NativeLibrary.bind(each);
                NativeLibrary.bind(each);
            });
        }
    }

    @Test
    void classUnknownToTheLibraryIsRefusedWithTheRemedy() {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> NativeLibrary.bind(NativeMethodsTest.class))
                .withMessageContaining("native library does not fit '" + NativeMethodsTest.class.getName() + "'")
                .withMessageContaining("of one version")
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.UNAVAILABLE));
    }
}
