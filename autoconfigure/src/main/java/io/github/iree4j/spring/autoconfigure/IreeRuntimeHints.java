package io.github.iree4j.spring.autoconfigure;

import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;

/**
 * Hints for native images: the native library, the classes with native methods registered by the library, drivers found
 * by name, and the lab's scenarios.
 */
final class IreeRuntimeHints implements RuntimeHintsRegistrar {

    /** For Spring. */
    IreeRuntimeHints() {}

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
        hints.resources()
                .registerPattern("META-INF/native/*/*iree4j_shim.*")
                .registerPattern("io/github/iree4j/lab/scenarios/*")
                .registerPattern("META-INF/services/io.github.iree4j.hal.loader.*")
                .registerPattern("META-INF/services/io.github.iree4j.hal.spi.*")
                .registerPattern("META-INF/services/io.github.iree4j.vm.*");
        for (String shim : new String[] {
            "io.github.iree4j.nativeaccess.Shim",
            "io.github.iree4j.nativeaccess.gpu.GpuShim",
            "io.github.iree4j.nativeaccess.vulkan.VulkanShim"
        }) {
            hints.jni().registerTypeIfPresent(classLoader, shim, MemberCategory.INVOKE_DECLARED_METHODS);
        }
        for (String provider : new String[] {
            "io.github.iree4j.hal.gpu.CudaDriverProvider",
            "io.github.iree4j.hal.gpu.HipDriverProvider",
            "io.github.iree4j.hal.local.LocalDriverProvider",
            "io.github.iree4j.hal.vulkan.VulkanDriverProvider",
            "io.github.iree4j.hal.vulkan.NarrowElements",
            "io.github.iree4j.modules.vmvx.VmvxExecutableLoader",
            "io.github.iree4j.modules.vmvx.VmvxModule"
        }) { // of the parts that the application has
            hints.reflection().registerTypeIfPresent(classLoader, provider, MemberCategory.INVOKE_PUBLIC_CONSTRUCTORS);
        }
    }
}
