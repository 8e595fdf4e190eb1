package io.github.iree4j.hal.vulkan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.nativeaccess.vulkan.FakeVulkan;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** Messages of the validation layer are logged, with their operation; so is the layer's absence. */
class ValidationLogTest {
    private final Logger log = (Logger) LoggerFactory.getLogger(ValidationLog.class);
    private final ListAppender<ILoggingEvent> appender = new ListAppender<>();

    @TempDir
    private Path directory;

    @BeforeEach
    void listen() {
        appender.start();
        log.addAppender(appender);
    }

    @AfterEach
    void listenNoMore() {
        log.detachAppender(appender);
    }

    private List<String> said(Level level) {
        return appender.list.stream()
                .filter(event -> event.getLevel().equals(level))
                .map(ILoggingEvent::getFormattedMessage)
                .toList();
    }

    @Test
    void aMissingLayerIsAWarning() {
        String library = FakeVulkan.in(directory, "no_layer").library();
        VulkanDriver driver = new VulkanDriver(library, true);
        assertThat(driver.availability().available()).isTrue();
        assertThat(said(Level.WARN))
                .singleElement()
                .asString()
                .contains("VK_LAYER_KHRONOS_validation is not there")
                .contains("vulkan-validationlayers");
        appender.list.clear();
        new VulkanDriver(library, false);
        assertThat(appender.list).as("logged although not requested").isEmpty();
    }

    @Test
    void aPresentLayerIsNoWarning() {
        new VulkanDriver(FakeVulkan.in(directory, "").library(), true);
        assertThat(appender.list).isEmpty();
    }

    /** Unordered copies, detected only by the layer's synchronization checks, and harmless on a software driver. */
    @Test
    void aMessageNamesTheOperation() {
        VulkanDriver driver = VulkanDrivers.withAllChecks();
        driver.takeValidationMessages();
        try (StreamDevice device = VulkanDrivers.openWithAllChecks(DeviceOptions.builder());
                Buffer buffer = device.allocator().allocate(BufferParams.DEFAULT, 64);
                CommandBuffer commands = device.createCommandBuffer(0, CommandBuffer.TRANSFER, -1, 1);
                TimelineSemaphore timeline = device.createSemaphore(0, 0);
                Fence done = Fence.at(timeline, 1)) {
            commands.fillBuffer(BufferRef.slot(0, 0, 64), 1, 4, 0);
            commands.fillBuffer(BufferRef.slot(0, 0, 64), 2, 4, 0);
            commands.finish();
            device.queue(0).execute(null, done, commands, BindingTable.of(buffer), 0);
            done.await();
        }
        List<String> messages = driver.takeValidationMessages();
        assumeTrue(driver.validates(), "the validation layer is not installed");
        assertThat(messages).isNotEmpty().first().asString().contains("SYNC-HAZARD-WRITE");
        assertThat(said(Level.ERROR))
                .isNotEmpty()
                .first()
                .asString()
                .startsWith("Vulkan validation, recording execute: ")
                .contains("SYNC-HAZARD-WRITE");
    }
}
