package io.github.iree4j.hal.vulkan;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableParams;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/** The kernels of the contract suites, as shaders; the sources are in {@code vulkan/contract} among the resources. */
public final class VulkanKernels {
    private VulkanKernels() {}

    /** Loads the kernels; the caller closes the executable. */
    public static Executable load(Device device, int... constants) {
        try (InputStream in = VulkanKernels.class.getResourceAsStream("/vulkan/contract/kernels.spirv-fb")) {
            byte[] code = Objects.requireNonNull(in, "kernels.spirv-fb").readAllBytes();
            return device.createExecutable(
                    new ExecutableParams("vulkan-spirv-fb", MemorySegment.ofArray(code), null, constants));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
