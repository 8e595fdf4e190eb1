package io.github.iree4j.hal.copying;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.contract.JavaKernels;
import io.github.iree4j.hal.local.LocalDriverProvider;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.OperationsUnderWay;
import io.github.iree4j.hal.spi.CpuOptions;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.nativeaccess.SealedMemory;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two devices configured to have no memory in common. */
class CopyingDeviceTest {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    private static final long LIMIT = 1 << 20;

    private final List<AutoCloseable> toClose = new ArrayList<>();
    private final List<Device> plain = new ArrayList<>();
    private Device a;
    private Device b;
    private TimelineSemaphore timeline;
    private long value;

    @BeforeEach
    void open() {
        for (int i = 0; i < 2; i++) {
            plain.add(closed(new LocalDriverProvider()
                    .open(
                            "local",
                            DeviceOptions.builder()
                                    .with(CpuOptions.DEFAULTS.loader(new JavaKernels()))
                                    .memoryLimit(LIMIT)
                                    .build())));
        }
        List<Device> views = CopyingDevice.of(
                plain, "program", (one, other) -> one.equals(other) ? Optional.empty() : Optional.of("on purpose"));
        a = views.getFirst();
        b = views.getLast();
        timeline = closed(a.createSemaphore(0, Device.SEMAPHORE_DEFAULT));
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : toClose.reversed()) {
            each.close();
        }
        for (Device each : plain) {
            assertThat(each.allocator().statistics().bytesLive()).isZero();
        }
    }

    private <T extends AutoCloseable> T closed(T resource) {
        toClose.add(resource);
        return resource;
    }

    private Buffer buffer(Device device, int... contents) {
        Buffer made = closed(device.allocator().allocate(BufferParams.DEFAULT, 4L * contents.length));
        made.write(0, MemorySegment.ofArray(contents));
        return made;
    }

    private static int[] contents(Buffer buffer) {
        int[] result = new int[(int) buffer.length() / 4];
        buffer.read(0, MemorySegment.ofArray(result));
        return result;
    }

    private Executable kernels(Device device) {
        return closed(JavaKernels.load(device));
    }

    private void run(Consumer<Fence> work) {
        value++;
        try (Fence done = Fence.at(timeline, value)) {
            work.accept(done);
            done.await(Duration.ofSeconds(60));
        }
    }

    private void fails(StatusCode code, String text, Consumer<Fence> work) {
        try (TimelineSemaphore own = a.createSemaphore(0, 0);
                Fence done = Fence.at(own, 1)) {
            work.accept(done);
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> done.await(Duration.ofSeconds(60)))
                    .withMessageContaining(text)
                    .satisfies(e -> assertThat(e.code()).isEqualTo(code));
        }
    }

    @Test
    void devicesInReachOfEachOtherAreLeftAlone() {
        assertThat(CopyingDevice.of(plain, "")).isSameAs(plain);
        assertThat(CopyingDevice.indexOfShared(plain)).isZero();
    }

    @Test
    void sharedMemoryIsUsableByAll() {
        Device first = plain.getFirst();
        List<Device> views = CopyingDevice.of(
                plain,
                "",
                (one, other) -> other.equals(first) && !one.equals(first) ? Optional.of("card") : Optional.empty());
        assertThat(CopyingDevice.indexOfShared(views))
                .as("no other device can use the memory of the first")
                .isOne();
        assertThat(CopyingDevice.indexOfShared(List.of(a, b)))
                .as("no device uses another's")
                .isZero();
        assertThat(CopyingDevice.indexOfShared(List.of(b))).isZero();
    }

    @Test
    void devicesUnknownToTheProgramAreAskedFor() {
        Device third = closed(new LocalDriverProvider().open("local", DeviceOptions.DEFAULTS));
        List<Device> views = CopyingDevice.of(
                plain,
                "",
                (one, other) ->
                        one.equals(other) || other.equals(third) ? Optional.empty() : Optional.of("on purpose"));
        CopyingDevice view = (CopyingDevice) views.getFirst();
        assertThat(view.isApart(buffer(third, 1))).isFalse();
        assertThat(view.isApart(buffer(b, 1))).isTrue();
        assertThat(((CopyingDevice) a).isApart(buffer(third, 1))).isTrue();
    }

    @Test
    void transfersMoveBytesBetweenDevices() {
        Buffer mine = buffer(a, 1, 2, 3, 4);
        Buffer yours = buffer(b, 5, 6, 7, 8);
        run(done -> a.queue(0).copy(null, done, yours, 4, mine, 8, 8, 0));
        assertThat(contents(mine)).containsExactly(1, 2, 6, 7);
        run(done -> a.queue(0).copy(null, done, mine, 0, yours, 0, Buffer.WHOLE, 0));
        assertThat(contents(yours)).containsExactly(1, 2, 6, 7);
        run(done -> a.queue(0).copy(null, done, yours, 0, yours, 8, 4, 0));
        assertThat(contents(yours)).containsExactly(1, 2, 1, 7);
        run(done -> a.queue(0).fill(null, done, yours, 0, 4, 9, 4, 0));
        run(done -> a.queue(0).update(null, done, MemorySegment.ofArray(new int[] {10}), yours, 4, 0));
        assertThat(contents(yours)).containsExactly(9, 10, 1, 7);
    }

    @Test
    void filesAreReadAndWrittenWhereTheMemoryIs() {
        Buffer yours = buffer(b, 5, 6);
        try (Arena arena = Arena.ofShared()) {
            MemorySegment bytes = arena.allocateFrom(INT, 1, 2);
            HalFile file = closed(HalFile.ofMemory(bytes, MemoryAccess.ALL, null));
            run(done -> a.queue(0).write(null, done, yours, 4, file, 0, 4, 0));
            assertThat(bytes.toArray(INT)).containsExactly(6, 2);
            run(done -> a.queue(0).read(null, done, file, 4, yours, 0, 4, 0));
            assertThat(contents(yours)).containsExactly(2, 6);
        }
    }

    @Test
    void aDispatchUsesCopiesAndWritesBack() {
        Buffer in = buffer(b, 1, 2, 3);
        Buffer out = buffer(b, 0, 0, 0);
        Executable kernels = kernels(a);
        BindingTable table = BindingTable.of(in, out);
        int[] constants = {2, 1};
        run(done -> a.queue(0)
                .dispatch(null, done, kernels, JavaKernels.SCALE, DispatchConfig.of(3, 1, 1), constants, table, 0));
        assertThat(contents(out)).containsExactly(3, 5, 7);
        assertThat(contents(in)).containsExactly(1, 2, 3);
    }

    /** A slot writes the input of another slot: both are parts of the same allocation, and one is a subspan. */
    @Test
    void slotsSharingAnAllocationShareItsCopy() {
        Buffer yours = buffer(b, 1, 2, 3, 4, 5, 6);
        Buffer part = closed(yours.subspan(4, 16));
        Buffer mine = buffer(a, 0, 0);
        try (CommandBuffer commands = a.createCommandBuffer(0, CommandBuffer.TRANSFER, -1, 2)) {
            commands.fillBuffer(BufferRef.slot(0, 8, 4), 30, 4, 0);
            commands.executionBarrier(0, 0, 0);
            commands.copyBuffer(BufferRef.slot(1, 4, 8), BufferRef.of(mine, 0, 8), 0);
            commands.finish();
            BindingTable table = new BindingTable().add(yours, 0, Buffer.WHOLE).add(part, 0, 16);
            for (int i = 0; i < 2; i++) {
                run(done -> a.queue(0).execute(null, done, commands, table, 0));
                assertThat(contents(mine)).containsExactly(30, 4);
                assertThat(contents(yours)).containsExactly(1, 2, 30, 4, 5, 6);
            }
        }
    }

    /** Both devices write parts of the same buffer concurrently: each copies back only ranges perhaps written. */
    @Test
    void unusedBytesBelongToOthersMeanwhile() {
        Buffer shared = buffer(b, 0, 0, 0, 0);
        try (TimelineSemaphore gate = a.createSemaphore(0, 0);
                CommandBuffer commands = a.createCommandBuffer(CommandBuffer.ONE_SHOT, CommandBuffer.TRANSFER, -1, 0)) {
            commands.fillBuffer(BufferRef.of(shared, 0, 4), 1, 4, 0);
            commands.fillBuffer(BufferRef.of(shared, 12, 4), 4, 4, 0);
            commands.finish();
            try (Fence open = Fence.at(gate, 1)) {
                run(done -> {
                    a.queue(0).hostCall(null, open, () -> shared.write(4, MemorySegment.ofArray(new int[] {2, 3})), 0);
                    a.queue(0).execute(open, done, commands, null, 0);
                });
            }
        }
        assertThat(contents(shared)).containsExactly(1, 2, 3, 4);
    }

    @Test
    void recordedObjectsAreKept() {
        Buffer mine = a.allocator().allocate(BufferParams.DEFAULT, 4);
        Buffer yours = b.allocator().allocate(BufferParams.DEFAULT, 4);
        Buffer result = buffer(a, 0);
        Executable kernels = JavaKernels.load(a);
        try (CommandBuffer commands =
                a.createCommandBuffer(0, CommandBuffer.TRANSFER | CommandBuffer.DISPATCH, -1, 0)) {
            yours.write(0, MemorySegment.ofArray(new int[] {20}));
            commands.copyBuffer(BufferRef.of(yours), BufferRef.of(mine), 0);
            commands.executionBarrier(0, 0, 0);
            commands.dispatch(
                    kernels,
                    JavaKernels.SCALE,
                    DispatchConfig.of(1, 1, 1),
                    new int[] {2, 2},
                    List.of(BufferRef.of(mine), BufferRef.of(result)),
                    0);
            yours.close();
            mine.close();
            kernels.close();
            commands.finish();
            run(done -> a.queue(0).execute(null, done, commands, null, 0));
            assertThat(contents(result)).containsExactly(42);
        }
    }

    @Test
    void anUpdateHasTheBytesOfTheRecording() {
        Buffer yours = buffer(b, 0);
        int[] bytes = {1};
        try (CommandBuffer commands = a.createCommandBuffer(0, CommandBuffer.TRANSFER, -1, 0)) {
            commands.updateBuffer(MemorySegment.ofArray(bytes), BufferRef.of(yours), 0);
            bytes[0] = 2;
            commands.finish();
            run(done -> a.queue(0).execute(null, done, commands, null, 0));
        }
        assertThat(contents(yours)).containsExactly(1);
    }

    /** A caller keeping the buffers of the table alive does not keep the copies alive. */
    @Test
    void copiesAreKeptWhereTheTableIsNot() {
        Buffer yours = buffer(b, 0);
        try (TimelineSemaphore gate = a.createSemaphore(0, 0);
                Fence open = Fence.at(gate, 1);
                CommandBuffer commands = a.createCommandBuffer(0, CommandBuffer.TRANSFER, -1, 1)) {
            commands.fillBuffer(BufferRef.slot(0, 0, 4), 6, 4, 0);
            commands.finish();
            run(done -> {
                a.queue(0)
                        .execute(
                                open,
                                done,
                                commands,
                                BindingTable.of(yours),
                                DeviceQueue.EXECUTE_BORROW_BINDING_TABLE_LIFETIME);
                gate.signal(1);
            });
        }
        assertThat(contents(yours)).containsExactly(6);
    }

    @Test
    void nothingIsBroughtBackToReadOnlyMemory() {
        Buffer out = buffer(a, 0, 0);
        try (Arena arena = Arena.ofShared()) {
            MemorySegment bytes = arena.allocate(64, 64);
            bytes.set(INT, 0, 3);
            bytes.set(INT, 4, 4);
            Buffer constant = closed(plain.getLast()
                    .allocator()
                    .importHost(BufferParams.DEFAULT.withAccess(MemoryAccess.READ), bytes.asReadOnly(), null));
            BindingTable table = new BindingTable().add(constant, 0, 8).add(out, 0, 8);
            Executable kernels = kernels(a);
            run(done -> a.queue(0)
                    .dispatch(
                            null,
                            done,
                            kernels,
                            JavaKernels.SCALE,
                            DispatchConfig.of(2, 1, 1),
                            new int[] {1, 1},
                            table,
                            0));
        }
        assertThat(contents(out)).containsExactly(4, 5);
    }

    @Test
    void transfersWriteToConstantsOfTheirOwnDevice() {
        SealedMemory memory = closed(SealedMemory.create(8));
        BufferParams params = new BufferParams(
                        BufferParams.DEFAULT.memoryType(), BufferParams.DEFAULT.usage() | BufferUsage.SHARING_IMMUTABLE)
                .withAccess(MemoryAccess.READ);
        Buffer constant = closed(a.allocator().importHost(params, memory.seal(), null));
        Buffer out = buffer(a, 1, 1);
        MemoryHolder call = new MemoryHolder("call", new OperationsUnderWay());
        MemoryHolder before = call.enter();
        try (CommandBuffer own = a.createCommandBuffer(0, CommandBuffer.TRANSFER, -1, 0);
                CommandBuffer other = b.createCommandBuffer(0, CommandBuffer.TRANSFER, -1, 0)) {
            own.fillBuffer(BufferRef.of(constant, 4, 4), 5, 4, 0);
            own.finish();
            run(done -> a.queue(0).execute(null, done, own, null, 0));
            run(done -> a.queue(0).copy(null, done, constant, 0, out, 0, 8, 0));
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> other.fillBuffer(BufferRef.of(constant, 4, 4), 5, 4, 0))
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.PERMISSION_DENIED));
        } finally {
            call.leave(before);
        }
        assertThat(contents(out)).containsExactly(0, 5);
        assertThat(contents(constant)).containsExactly(0, 0);
    }

    /** The source's slot determines the length; later bytes of the target are unchanged. */
    @Test
    void aCopyOfAWholeSlotLeavesTheRestOfItsTarget() {
        Buffer mine = buffer(a, 1, 2);
        Buffer yours = buffer(b, 7, 7, 7, 7, 7);
        try (CommandBuffer commands = a.createCommandBuffer(0, CommandBuffer.TRANSFER, -1, 2)) {
            commands.copyBuffer(BufferRef.slot(0, 0, Buffer.WHOLE), BufferRef.slot(1, 4, Buffer.WHOLE), 0);
            commands.finish();
            run(done -> a.queue(0).execute(null, done, commands, BindingTable.of(mine, yours), 0));
            assertThat(contents(yours)).containsExactly(7, 1, 2, 7, 7);
        }
        try (CommandBuffer commands = a.createCommandBuffer(0, CommandBuffer.TRANSFER, -1, 1)) {
            commands.copyBuffer(BufferRef.slot(0, 4, Buffer.WHOLE), BufferRef.of(yours, 0, Buffer.WHOLE), 0);
            commands.finish();
            run(done -> a.queue(0).execute(null, done, commands, BindingTable.of(mine), 0));
            assertThat(contents(yours)).containsExactly(2, 1, 2, 7, 7);
        }
    }

    @Test
    void nothingMayBeUsedAtAnyPlaceOfASlot() {
        Buffer mine = buffer(a, 1, 2, 3);
        Buffer yours = buffer(b, 7, 8, 9);
        try (CommandBuffer commands = a.createCommandBuffer(0, CommandBuffer.TRANSFER, -1, 2)) {
            commands.copyBuffer(BufferRef.slot(0, 4, 0), BufferRef.slot(1, 8, 0), 0);
            commands.finish();
            run(done -> a.queue(0).execute(null, done, commands, BindingTable.of(mine, yours), 0));
        }
        assertThat(contents(yours)).containsExactly(7, 8, 9);
    }

    @Test
    void unreadableMemoryCannotBeCopied() {
        Buffer yours = closed(b.allocator().allocate(BufferParams.DEFAULT.withAccess(MemoryAccess.WRITE), 8));
        Buffer mine = buffer(a, 1, 2);
        BindingTable table = BindingTable.of(mine, yours);
        Executable kernels = kernels(a);
        fails(
                StatusCode.PERMISSION_DENIED,
                "slot 1 holds a buffer of device",
                done -> a.queue(0)
                        .dispatch(
                                null,
                                done,
                                kernels,
                                JavaKernels.SCALE,
                                DispatchConfig.of(2, 1, 1),
                                new int[] {1, 1},
                                table,
                                0));
    }

    @Test
    void aRecordingHasItsLimitsBeforeTheFinish() {
        Buffer yours = buffer(b, new int[16384]);
        MemorySegment bytes = MemorySegment.ofArray(new byte[65536]);
        try (CommandBuffer commands = a.createCommandBuffer(0, CommandBuffer.TRANSFER, -1, 0)) {
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(() -> {
                        for (int i = 0; i <= 4096; i++) {
                            commands.updateBuffer(bytes, BufferRef.of(yours), 0);
                        }
                    })
                    .withMessageContaining("updates of a command buffer exceed")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED));
        }
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> a.createCommandBuffer(0, CommandBuffer.TRANSFER, 1L << 40, 0))
                .withMessageContaining("queue");
    }

    /** Copies of an execution are a single allocation, so two executions do not deadlock. */
    @Test
    void executionsNeedingSeveralCopiesEachEndOneAfterTheOther() {
        int words = (int) LIMIT / 12;
        Buffer first = buffer(b, new int[words]);
        Buffer second = buffer(b, new int[words]);
        try (CommandBuffer commands = a.createCommandBuffer(0, CommandBuffer.TRANSFER, -1, 2)) {
            commands.copyBuffer(BufferRef.slot(0, 0, 4096), BufferRef.slot(1, 4096, 4096), 0);
            commands.fillBuffer(BufferRef.slot(0, 4L * words - 4, 4), 1, 4, 0);
            commands.fillBuffer(BufferRef.slot(1, 4L * words - 4, 4), 1, 4, 0);
            commands.finish();
            List<TimelineSemaphore> ends = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                ends.add(closed(a.createSemaphore(0, Device.SEMAPHORE_DEFAULT)));
                try (Fence done = Fence.at(ends.getLast(), 1)) {
                    a.queue(0).execute(null, done, commands, BindingTable.of(first, second), 0);
                }
            }
            ends.forEach(each -> each.await(1, Duration.ofSeconds(60)));
        }
    }

    @Test
    void anUnfinishedCommandBufferKeepsNothing() {
        Buffer yours = buffer(b, 1);
        CommandBuffer commands = a.createCommandBuffer(0, CommandBuffer.TRANSFER, -1, 0);
        commands.fillBuffer(BufferRef.of(yours), 1, 4, 0);
        commands.close();
        fails(StatusCode.FAILED_PRECONDITION, "closed", done -> a.queue(0).execute(null, done, commands, null, 0));
    }

    @Test
    void memoryInQueueOrderIsUsedAndGivenBackByTheOther() {
        for (int round = 0; round < 20; round++) {
            DeviceQueue other = a.queue(0);
            Buffer result = buffer(a, 0);
            int number = round;
            Buffer[] made = new Buffer[1];
            run(done -> made[0] = b.queue(0).alloca(null, done, BufferParams.DEFAULT, 4, 0));
            Buffer given = closed(made[0]);
            run(done -> other.fill(null, done, given, 0, 4, number, 4, 0));
            run(done -> other.copy(null, done, given, 0, result, 0, 4, 0));
            run(done -> other.dealloca(null, done, given, 0));
            assertThat(contents(result)).containsExactly(number);
            assertThat(b.allocator().statistics().bytesLive()).as("given back").isZero();
        }
    }

    @Test
    void errorsFailTheSignal() {
        Buffer mine = buffer(a, 1);
        Buffer yours = buffer(b, 2);
        fails(StatusCode.OUT_OF_RANGE, "copy", done -> a.queue(0).copy(null, done, yours, 0, mine, 0, 8, 0));
        Buffer gone = b.allocator().allocate(BufferParams.DEFAULT, 4);
        gone.close();
        fails(StatusCode.FAILED_PRECONDITION, "closed", done -> a.queue(0).copy(null, done, gone, 0, mine, 0, 4, 0));
        try (CommandBuffer commands = a.createCommandBuffer(0, CommandBuffer.TRANSFER, -1, 1)) {
            commands.fillBuffer(BufferRef.slot(0, 4, 4), 1, 4, 0);
            commands.finish();
            fails(
                    StatusCode.OUT_OF_RANGE,
                    "slot 0",
                    done -> a.queue(0).execute(null, done, commands, BindingTable.of(yours), 0));
        }
        fails(StatusCode.ABORTED, "on purpose", done -> {
            try (TimelineSemaphore failed = a.createSemaphore(0, 0);
                    Fence before = Fence.at(failed, 1)) {
                failed.fail(IreeException.of(StatusCode.ABORTED, "on purpose"));
                a.queue(0).copy(before, done, yours, 0, mine, 0, 4, 0);
            }
        });
        assertThat(contents(mine)).containsExactly(1);
    }

    @Test
    void aFailingKernelLeavesNoCopy() {
        Buffer yours = buffer(b, 2);
        Executable kernels = kernels(a);
        try (CommandBuffer commands = a.createCommandBuffer(0, 3, -1, 0)) {
            commands.fillBuffer(BufferRef.of(yours), 1, 4, 0);
            commands.executionBarrier(0, 0, 0);
            commands.dispatch(kernels, JavaKernels.FAIL, DispatchConfig.of(1, 1, 1), new int[0], List.of(), 0);
            commands.finish();
            fails(StatusCode.DATA_LOSS, "on purpose", done -> a.queue(0).execute(null, done, commands, null, 0));
        }
        assertThat(contents(yours)).as("nothing is copied back").containsExactly(2);
        assertThat(a.allocator().statistics().bytesLive()).isZero();
    }

    /** An impossible request is refused; memory waiters are served when memory is released. */
    @Test
    void copiesStayWithinTheBudgetOfTheDevice() {
        Buffer large = closed(b.allocator().allocate(BufferParams.DEFAULT, LIMIT - 4096));
        Buffer half = closed(b.allocator().allocate(BufferParams.DEFAULT, 256));
        run(done -> b.queue(0).fill(null, done, large, 0, Buffer.WHOLE, 3, 4, 0));
        try (CommandBuffer commands = a.createCommandBuffer(0, CommandBuffer.TRANSFER, -1, 1)) {
            commands.fillBuffer(BufferRef.slot(0, 0, Buffer.WHOLE), 1, 4, 0);
            commands.finish();
            for (int i = 0; i < 8; i++) {
                long next = value + 1;
                try (Fence done = Fence.at(timeline, next)) {
                    Fence before = value == 0 ? null : closed(Fence.at(timeline, value));
                    a.queue(0).execute(before, done, commands, BindingTable.of(large), 0);
                }
                value = next;
            }
            timeline.await(value, Duration.ofSeconds(60));
            Buffer mine = closed(a.allocator().allocate(BufferParams.DEFAULT, LIMIT / 2));
            BindingTable table = BindingTable.of(large);
            fails(StatusCode.RESOURCE_EXHAUSTED, "bytes", done -> a.queue(0).execute(null, done, commands, table, 0));
            assertThat(mine.isLive()).isTrue();
            run(done -> a.queue(0).execute(null, done, commands, BindingTable.of(half), 0));
            BindingTable last = new BindingTable().add(large, LIMIT - 4096 - 64, 64);
            run(done -> a.queue(0).execute(null, done, commands, last, 0));
        }
        assertThat(contents(half)).containsOnly(1);
    }
}
