package io.github.iree4j.hal.vulkan;

import io.github.iree4j.hal.contract.BackendContract;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** STREAM-1: on several hardware queues of the library without hardware. */
class ManyQueuesContractTest extends BackendContract {
    @TempDir
    private static Path directory;

    ManyQueuesContractTest() {
        super(new ManyQueuesBackend(directory));
    }
}
