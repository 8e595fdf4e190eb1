package io.github.iree4j.flight;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.FrontierTracker;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.HostCallCompletion;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.QueueAffinity;
import io.github.iree4j.hal.QueueCommand;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.hal.contract.JavaKernels;
import io.github.iree4j.hal.gpu.GpuDrivers;
import io.github.iree4j.hal.gpu.GpuKernels;
import io.github.iree4j.hal.local.LocalBackend;
import io.github.iree4j.hal.schedule.QueueOperation;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Every command is recorded under the name of its kind: readers of a recording know an operation by the name alone. */
@Timeout(60)
class RecordedCommandsTest {
    private static final int BYTES = 64;

    private final FrontierTracker tracker = FrontierTracker.create();
    private final SchedulingDomain domain =
            SchedulingDomain.create(AxisAllocator.create(14, 0), tracker, Frontier.DEFAULT_CAPACITY);

    @TempDir
    private Path directory;

    private static String name(QueueCommand command) {
        return switch (command) {
            case QueueCommand.Fill _ -> QueueOperation.FILL;
            case QueueCommand.Copy _ -> QueueOperation.COPY;
            case QueueCommand.Update _ -> QueueOperation.UPDATE;
            case QueueCommand.Read _ -> QueueOperation.READ;
            case QueueCommand.Write _ -> QueueOperation.WRITE;
            case QueueCommand.Dispatch _ -> QueueOperation.DISPATCH;
            case QueueCommand.Execute _ -> QueueOperation.EXECUTE;
            case QueueCommand.Barrier _ -> QueueOperation.BARRIER;
            case QueueCommand.Call _ -> QueueOperation.HOST_CALL;
            case QueueCommand.DeferredCall _ -> QueueOperation.DEFERRED_HOST_CALL;
            case QueueCommand.Dealloca _ -> QueueOperation.DEALLOCA;
        };
    }

    @Test
    void commandsOfTheCpuAreRecordedUnderTheirNames() throws IOException {
        assertThatCommandsAreNamed(new LocalBackend()::open, JavaKernels::load);
    }

    @Test
    void commandsOfAStreamAreRecordedUnderTheirNames() throws IOException {
        for (GpuKind kind : GpuKind.values()) {
            assertThatCommandsAreNamed(GpuDrivers.fake(directory, kind, "")::open, GpuKernels::load);
        }
    }

    private void assertThatCommandsAreNamed(
            Function<DeviceOptions.Builder, Device> opener, Function<Device, Executable> kernels) throws IOException {
        MemorySegment bytes = MemorySegment.ofArray(new byte[BYTES]);
        try (Device device = opener.apply(DeviceOptions.builder().schedulingDomain(domain));
                Executable code = kernels.apply(device);
                Buffer source = device.allocator().allocate(BufferParams.DEFAULT, BYTES);
                Buffer target = device.allocator().allocate(BufferParams.DEFAULT, BYTES);
                HalFile file = HalFile.ofMemory(bytes, MemoryAccess.READ | MemoryAccess.WRITE, null);
                CommandBuffer nothing = device.createCommandBuffer(0, CommandBuffer.TRANSFER, QueueAffinity.ANY, 0);
                TimelineSemaphore timeline = TimelineSemaphore.create(0);
                FlightRecorder recorder = FlightRecorder.open(domain, RecorderOptions.DEFAULTS)) {
            nothing.finish();
            Fence allocated = Fence.at(timeline, 1);
            Buffer own = device.queue(0).alloca(null, allocated, BufferParams.DEFAULT, BYTES, 0);
            allocated.close();
            List<QueueCommand> commands = List.of(
                    new QueueCommand.Fill(source, 0, BYTES, 1, 1),
                    new QueueCommand.Update(bytes, target, 0),
                    new QueueCommand.Copy(source, 0, target, 0, BYTES),
                    new QueueCommand.Read(file, 0, target, 0, BYTES),
                    new QueueCommand.Write(source, 0, file, 0, BYTES),
                    new QueueCommand.Dispatch(
                            code,
                            code.lookup("coordinates"),
                            DispatchConfig.of(1, 1, 1),
                            new int[0],
                            BindingTable.of(target),
                            0),
                    new QueueCommand.Execute(nothing, null, 0),
                    new QueueCommand.Barrier(),
                    new QueueCommand.Call(() -> {}, 0),
                    new QueueCommand.DeferredCall(HostCallCompletion::complete),
                    new QueueCommand.Dealloca(own, 0));
            List<String> expected = new ArrayList<>(List.of(QueueOperation.ALLOCA));
            for (int i = 0; i < commands.size(); i++) {
                Fence wait = Fence.at(timeline, i + 1);
                Fence signal = Fence.at(timeline, i + 2);
                device.queue(0).submit(wait, signal, commands.get(i));
                expected.add(name(commands.get(i)));
                wait.close();
                signal.close();
            }
            timeline.await(commands.size() + 1, Duration.ofSeconds(30));
            assertThat(new OperationGraph(recorder.recording())
                            .operations().stream().map(RecordedOperation::name).distinct())
                    .as("on %s; a command may be several operations", device)
                    .containsExactlyElementsOf(expected);
            own.close();
        }
    }
}
