package io.github.iree4j.hal.vulkan;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.hal.stream.TestDriver;
import io.github.iree4j.nativeaccess.vulkan.FakeVulkan;
import io.github.iree4j.nativeaccess.vulkan.VulkanApi;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A driver over a Vulkan library without hardware. */
public final class FakeDriver implements TestDriver {
    private final FakeVulkan library;
    private final VulkanDriver driver;

    private FakeDriver(FakeVulkan library, VulkanDriver driver) {
        this.library = library;
        this.driver = driver;
    }

    /** A device with hidden memory and queues for transfers only. Skips the test without the library. */
    public static Device deviceWithHiddenMemory(Path directory) {
        return in(directory, "").open(DeviceOptions.builder());
    }

    /** With private settings and state, see {@link FakeVulkan}. */
    public static FakeDriver in(Path directory, String settings) {
        return in(directory, settings, StreamDevice.CLOSE_LIMIT);
    }

    /** The same, with a limit for closing its devices. */
    public static FakeDriver in(Path directory, String settings, Duration closeLimit) {
        FakeVulkan library = FakeVulkan.in(directory, settings);
        VulkanDriver driver = new VulkanDriver(library.library(), true, closeLimit);
        assertThat(driver.availability().reason()).isNull();
        return new FakeDriver(library, driver);
    }

    /** The fake library. */
    public FakeVulkan library() {
        return library;
    }

    @Override
    public StreamDevice open(DeviceOptions.Builder options) {
        return driver.open("vulkan", options.build());
    }

    @Override
    public void hang() {
        library.hang();
    }

    @Override
    public void goOn() {
        library.goOn();
    }

    @Override
    public void lose() {
        library.loseDevice();
    }

    @Override
    public Map<String, Long> liveObjects(StreamDevice device) {
        long[] counts = VulkanDrivers.handle(device).liveObjects();
        return IntStream.range(0, counts.length)
                .boxed()
                .collect(Collectors.toMap(VulkanApi.KINDS::get, i -> counts[i]));
    }

    @Override
    public void assertNothingToComplainOf() {
        assertThat(driver.takeValidationMessages()).as("misuse").isEmpty();
    }
}
