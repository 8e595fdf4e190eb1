package io.github.iree4j.hal.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.pool.MemoryHolder;
import io.github.iree4j.hal.pool.OperationsUnderWay;
import io.github.iree4j.nativeaccess.SealedMemory;
import io.github.iree4j.nativeaccess.SystemCapability;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Transfers with writes to constants of a module: each call has private contents, until its end. */
public abstract class ConstantContract extends DeviceContract {
    /** Above the limit for cutting transfers into pieces, and in several windows of a view. */
    private static final int LENGTH = 600_000;

    private static final BufferParams CONSTANT = new BufferParams(
                    IMPORTED.memoryType(), IMPORTED.usage() | BufferUsage.SHARING_IMMUTABLE)
            .withAccess(MemoryAccess.READ);

    private static final int[] ORIGINAL = IntStream.range(0, LENGTH).toArray();

    @TempDir
    @SuppressWarnings("NullAway") // set by JUnit
    private Path directory;

    /** On a backend, closed after each test. */
    protected ConstantContract(Backend backend) {
        super(backend);
    }

    @BeforeEach
    void hasViews() {
        assumeTrue(
                SystemCapability.VIEWS.isPresent() || OS.LINUX.isCurrentOs(), "this system has no views of constants");
    }

    /** A constant counting up from 0, as in a module. */
    private Buffer constant() {
        SealedMemory memory = closed(SealedMemory.create(LENGTH * 4L));
        MemorySegment.copy(ORIGINAL, 0, memory.writable(), INT, 0, LENGTH);
        MemorySegment bytes = backend.has(Capability.READ_ONLY_IMPORTS)
                ? memory.seal()
                : memory.writable().asReadOnly();
        // A device apart from the host has constants in its own memory.
        BufferParams params = backend.has(Capability.HOST_IMPORTS)
                ? CONSTANT
                : new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT | BufferUsage.SHARING_IMMUTABLE)
                        .withAccess(MemoryAccess.READ);
        return closed(device.allocator().importHost(params, bytes, null));
    }

    @Test
    void readOnlyPagesAreUsedInPlaceOrRefused() {
        assume(Capability.HOST_IMPORTS);
        SealedMemory memory = closed(SealedMemory.create(4096));
        memory.writable().fill((byte) 7);
        if (!backend.has(Capability.READ_ONLY_IMPORTS)) {
            assertFails(
                    StatusCode.UNIMPLEMENTED,
                    "copy the bytes",
                    () -> device.allocator().importHost(CONSTANT, memory.seal(), null));
            return;
        }
        Buffer constant = closed(device.allocator().importHost(CONSTANT, memory.seal(), null));
        Buffer target = ints(new int[1024]);
        Fence done = fence();
        queue.copy(null, done, constant, 0, target, 0, 4096, 0);
        done.await();
        assertThat(read(target)).containsOnly(0x07070707);
    }

    private static MemoryHolder call(String name) {
        return new MemoryHolder(name, new OperationsUnderWay());
    }

    private static <T> T during(MemoryHolder call, Supplier<T> work) {
        MemoryHolder before = call.enter();
        try {
            return work.get();
        } finally {
            call.leave(before);
        }
    }

    /** Submits an operation of a call. */
    private Fence submit(MemoryHolder call, Consumer<Fence> operation) {
        return during(call, () -> {
            Fence done = fence();
            operation.accept(done);
            return done;
        });
    }

    /** The host's view of a constant. */
    private int[] seen(Buffer constant) {
        if (constant.isMappable(MemoryAccess.READ)) {
            return read(constant);
        }
        int[] values = new int[LENGTH];
        constant.read(0, MemorySegment.ofArray(values));
        return values;
    }

    /** The bytes read by an operation of the call. */
    private int[] copyOf(MemoryHolder call, Buffer constant) {
        Buffer target = ints(new int[LENGTH]);
        submit(call, done -> queue.copy(null, done, constant, 0, target, 0, LENGTH * 4L, 0))
                .await();
        return read(target);
    }

    private static int[] with(int first, int... values) {
        int[] expected = ORIGINAL.clone();
        System.arraycopy(values, 0, expected, first, values.length);
        return expected;
    }

    /** Runs an operation in a call, and checks the view of the call and of other calls. */
    private void check(Buffer constant, int[] expected, Consumer<Fence> operation) {
        MemoryHolder writer = call("writer");
        MemoryHolder other = call("other");
        submit(writer, operation).await();
        assertThat(copyOf(writer, constant)).as("in the call").isEqualTo(expected);
        assertThat(during(writer, () -> seen(constant))).as("for its host").isEqualTo(expected);
        assertThat(copyOf(other, constant)).as("in another call").isEqualTo(ORIGINAL);
        assertThat(during(other, () -> seen(constant))).as("for its host").isEqualTo(ORIGINAL);
        assertThat(seen(constant)).as("outside of calls").isEqualTo(ORIGINAL);
        writer.end();
        other.end();
        MemoryHolder next = call("next");
        submit(next, operation).await();
        assertThat(copyOf(next, constant)).as("in the next call").isEqualTo(expected);
        next.end();
    }

    private static int[] repeated(int value, int count) {
        int[] values = new int[count];
        Arrays.fill(values, value);
        return values;
    }

    @Test
    void fillsWriteToTheCopyOfTheirCall() {
        Buffer constant = constant();
        check(constant, with(3, -1, -1), done -> queue.fill(null, done, constant, 12, 8, -1, 4, 0));
        int many = LENGTH - 100;
        check(constant, with(5, repeated(7, many)), done -> queue.fill(null, done, constant, 20, many * 4L, 7, 4, 0));
    }

    @Test
    void updatesWriteToTheCopyOfTheirCall() {
        Buffer constant = constant();
        MemorySegment bytes = MemorySegment.ofArray(new int[] {-1, -2});
        check(
                constant,
                with(LENGTH - 2, -1, -2),
                done -> queue.update(null, done, bytes, constant, (LENGTH - 2) * 4L, 0));
    }

    @Test
    void copiesWriteToTheCopyOfTheirCall() {
        Buffer constant = constant();
        Buffer source = ints(-1, -2, -3);
        check(constant, with(1, -1, -2, -3), done -> queue.copy(null, done, source, 0, constant, 4, 12, 0));
        int half = LENGTH / 2;
        check(
                constant,
                with(half, Arrays.copyOf(ORIGINAL, half)),
                done -> queue.copy(null, done, constant, 0, constant, half * 4L, half * 4L, 0));
        check(constant, with(100, 0, 1, 2), done -> queue.copy(null, done, constant, 0, constant, 400, 12, 0));
    }

    @Test
    void readsOfFilesWriteToTheCopyOfTheirCall() throws IOException {
        Buffer constant = constant();
        int[] numbers = IntStream.range(0, LENGTH - 10).map(i -> -i).toArray();
        MemorySegment bytes = MemorySegment.ofArray(new byte[numbers.length * 4]);
        MemorySegment.copy(numbers, 0, bytes, INT, 0, numbers.length);
        Path path = directory.resolve("numbers.bin");
        Files.write(path, bytes.toArray(ValueLayout.JAVA_BYTE));
        HalFile file = closed(HalFile.open(path, MemoryAccess.READ));
        check(
                constant,
                with(5, numbers),
                done -> queue.read(null, done, file, 0, constant, 20, numbers.length * 4L, 0));
    }

    @Test
    void soDoRecordedCommandsOnFixedBuffersAndOnSlots() {
        Buffer constant = constant();
        Buffer source = ints(-3, -4);
        MemoryHolder recorder = call("recorder");
        for (boolean fixed : new boolean[] {true, false}) {
            CommandBuffer commands = during(recorder, () -> {
                CommandBuffer recorded = closed(device.createCommandBuffer(0, CommandBuffer.TRANSFER, -1, 1));
                record(
                        recorded,
                        BufferRef.of(source),
                        (offset, length) ->
                                fixed ? BufferRef.of(constant, offset, length) : BufferRef.slot(0, offset, length));
                return recorded;
            });
            check(
                    constant,
                    with(2, -1, -1, -2, -3, -4, -3, -4),
                    done -> queue.execute(null, done, commands, BindingTable.of(constant), 0));
        }
    }

    /** Names a range of the target. */
    private interface Target {
        BufferRef range(long offset, long length);
    }

    private static void record(CommandBuffer commands, BufferRef source, Target target) {
        commands.fillBuffer(target.range(8, 8), -1, 4, 0);
        commands.updateBuffer(MemorySegment.ofArray(new int[] {-2}), target.range(16, 4), 0);
        commands.copyBuffer(source, target.range(20, 8), 0);
        commands.executionBarrier(CommandBuffer.STAGE_COMMAND_RETIRE, CommandBuffer.STAGE_COMMAND_ISSUE, 0);
        commands.copyBuffer(target.range(20, 8), target.range(28, 8), 0); // of the written bytes
        commands.finish();
    }

    @Test
    void writesOfTheMakingCallStay() {
        MemoryHolder loading = call("loading");
        Buffer constant = during(loading, this::constant);
        submit(loading, done -> queue.fill(null, done, constant, 0, 8, -1, 4, 0))
                .await();
        MemoryHolder call = call("call");
        submit(call, done -> queue.fill(null, done, constant, 8, 4, -2, 4, 0)).await();
        assertThat(copyOf(call, constant)).isEqualTo(with(0, -1, -1, -2));
        assertThat(copyOf(call("another"), constant)).isEqualTo(with(0, -1, -1));
    }

    @Test
    void readingCopiesNothing() {
        Buffer constant = constant();
        Buffer target = ints(new int[LENGTH]);
        long before = device.allocator().statistics().bytesLive();
        MemoryHolder call = call("call");
        submit(call, done -> queue.copy(null, done, constant, 0, target, 0, LENGTH * 4L, 0))
                .await();
        CommandBuffer commands = closed(device.createCommandBuffer(0, CommandBuffer.TRANSFER, -1, 1));
        commands.copyBuffer(BufferRef.slot(0, 0, 8), BufferRef.of(target, 8, 8), 0);
        commands.finish();
        submit(call, done -> queue.execute(null, done, commands, BindingTable.of(constant), 0))
                .await();
        assertThat(device.allocator().statistics().bytesLive()).isEqualTo(before);
    }

    @Test
    void operationsOfNoCallCannotWriteConstants() {
        Buffer constant = constant();
        Fence done = fence();
        queue.fill(null, done, constant, 0, 4, 0, 4, 0);
        assertFails(done, StatusCode.PERMISSION_DENIED, "fill target needs a buffer with");
        CommandBuffer commands = closed(device.createCommandBuffer(0, CommandBuffer.TRANSFER, -1, 1));
        assertFails(
                StatusCode.PERMISSION_DENIED,
                "fill target needs a buffer with",
                () -> commands.fillBuffer(BufferRef.of(constant, 0, 4), 0, 4, 0));
        commands.fillBuffer(BufferRef.slot(0, 0, 4), 0, 4, 0);
        commands.finish();
        Fence executed = fence();
        queue.execute(null, executed, commands, BindingTable.of(constant), 0);
        assertFails(executed, StatusCode.PERMISSION_DENIED, "slot 0 of the binding table needs a buffer with");
        assertThat(seen(constant)).isEqualTo(ORIGINAL);
    }

    @Test
    void otherReadOnlyMemoryIsNotWritten() {
        assume(Capability.HOST_IMPORTS);
        try (Arena arena = Arena.ofShared()) {
            MemorySegment bytes = arena.allocate(backend.importGranularity(), backend.importGranularity());
            Buffer lent = closed(
                    device.allocator().importHost(IMPORTED.withAccess(MemoryAccess.READ), bytes.asReadOnly(), null));
            MemoryHolder call = call("call");
            MemorySegment update = MemorySegment.ofArray(new int[1]);
            Buffer source = ints(1);
            assertRefused(submit(call, done -> queue.fill(null, done, lent, 0, 4, 0, 4, 0)), "fill target");
            assertRefused(submit(call, done -> queue.update(null, done, update, lent, 0, 0)), "update target");
            assertRefused(submit(call, done -> queue.copy(null, done, source, 0, lent, 0, 4, 0)), "copy target");
            CommandBuffer commands = closed(device.createCommandBuffer(0, CommandBuffer.TRANSFER, -1, 1));
            commands.fillBuffer(BufferRef.slot(0, 0, 4), 0, 4, 0);
            commands.finish();
            assertRefused(
                    submit(call, done -> queue.execute(null, done, commands, BindingTable.of(lent), 0)),
                    "slot 0 of the binding table");
        }
    }

    private static void assertRefused(Fence fence, String what) {
        assertFails(fence, StatusCode.PERMISSION_DENIED, what + " needs a buffer with");
    }
}
