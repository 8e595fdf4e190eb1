package io.github.iree4j.hal.copying;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferRef;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.contract.JavaKernels;
import io.github.iree4j.hal.local.LocalDriverProvider;
import io.github.iree4j.hal.spi.CpuOptions;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.vulkan.FakeDriver;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random work of devices without memory in common, on buffers of all devices, against arrays. Concurrent submissions
 * share buffers but no bytes; slots of an execution share allocations arbitrarily.
 */
@Tag("long")
@Timeout(1800)
class RandomCopiesTest {
    private static final int WORDS = 96; // of the largest buffer
    private static final int BUFFERS = 5;

    /** Words of a buffer. */
    private record Range(int buffer, int first, int count) {}

    /** A command as known to the model, and the way of recording. */
    private record Command(Kind kind, @Nullable Range source, Range target, int[] words) {}

    private enum Kind {
        FILL,
        UPDATE,
        COPY,
        SCALE
    }

    /** A part of a buffer held by slots. */
    private record Window(Range range, boolean whole) {}

    private Random random;
    private List<Device> views;
    private final List<Buffer> buffers = new ArrayList<>();
    private final List<int[]> model = new ArrayList<>();
    private final List<@Nullable Executable> kernels = new ArrayList<>();

    @Test
    void cpusSharingNothing() {
        for (long seed : all(400, 40_000, 3300)) {
            random = new Random(seed);
            List<Device> plain = List.of(cpu(), cpu(), cpu());
            views = CopyingDevice.of(
                    plain, "", (one, other) -> one.equals(other) ? Optional.empty() : Optional.of("on purpose"));
            run(seed, plain);
        }
    }

    /**
     * The cards use memory of the CPU in place; the CPU cannot use the cards' memory, nor can the cards use each
     * other's.
     */
    @Test
    void aCpuAndCardsWithHiddenMemory(@TempDir Path first, @TempDir Path second) {
        for (long seed : all(100, 2000, 4400)) {
            random = new Random(seed);
            List<Device> plain =
                    List.of(cpu(), FakeDriver.deviceWithHiddenMemory(first), FakeDriver.deviceWithHiddenMemory(second));
            views = CopyingDevice.of(plain, "");
            assertThat(views).noneMatch(plain::contains);
            run(seed, plain);
        }
    }

    private static Iterable<Long> all(int usual, int atNight, long seed) {
        return () -> Effort.programs(RandomCopiesTest.class, usual, atNight, seed);
    }

    private static Device cpu() {
        return new LocalDriverProvider()
                .open(
                        "local",
                        DeviceOptions.builder()
                                .with(CpuOptions.DEFAULTS
                                        .loader(new JavaKernels())
                                        .workers(1))
                                .build());
    }

    private void run(long seed, List<Device> plain) {
        try {
            for (Device view : views) {
                boolean runs = view.queryI64("hal.executable.format", JavaKernels.FORMAT)
                                .orElse(0)
                        != 0;
                kernels.add(runs ? JavaKernels.load(view) : null);
            }
            for (int i = 0; i < BUFFERS; i++) {
                int[] contents = random.ints(1 + random.nextInt(WORDS)).toArray();
                BufferParams params = random.nextBoolean()
                        ? BufferParams.DEFAULT
                        : new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT);
                Buffer made = any(views).allocator().allocate(params, 4L * contents.length);
                made.write(0, MemorySegment.ofArray(contents));
                buffers.add(made);
                model.add(contents);
            }
            submit();
            for (int i = 0; i < BUFFERS; i++) {
                int[] seen = new int[model.get(i).length];
                buffers.get(i).read(0, MemorySegment.ofArray(seen));
                assertThat(seen).as("buffer %d, seed %d", i, seed).isEqualTo(model.get(i));
            }
        } finally {
            buffers.forEach(Buffer::close);
            buffers.clear();
            model.clear();
            kernels.stream().filter(each -> each != null).forEach(Executable::close);
            kernels.clear();
            plain.forEach(Device::close);
        }
        for (Device each : plain) {
            assertThat(each.allocator().statistics().bytesLive())
                    .as("seed %d", seed)
                    .isZero();
        }
    }

    private <T> T any(List<T> list) {
        return list.get(random.nextInt(list.size()));
    }

    /** Rounds of concurrent work, each after the previous round, all submitted before anything begins. */
    private void submit() {
        int rounds = 1 + random.nextInt(5);
        try (TimelineSemaphore order = views.getFirst().createSemaphore(0, Device.SEMAPHORE_DEFAULT)) {
            for (int round = 1; round <= rounds; round++) {
                List<BitSet> taken = new ArrayList<>(); // words written or read in this round, by buffer
                for (int i = 0; i < BUFFERS; i++) {
                    taken.add(new BitSet());
                }
                List<Fence> ends = new ArrayList<>();
                try (Fence before = Fence.at(order, round);
                        Fence after = Fence.at(order, round + 1)) {
                    for (int n = 1 + random.nextInt(4); n > 0; n--) {
                        TimelineSemaphore end = views.getFirst().createSemaphore(0, 0);
                        ends.add(Fence.at(end, 1));
                        end.close();
                        work(taken, before, ends.getLast());
                    }
                    try (Fence all = Fence.joinNullable(ends)) {
                        any(views).queue(0).barrier(all, after, 0);
                    }
                } finally {
                    ends.forEach(Fence::close);
                }
            }
            order.signal(1);
            order.await(rounds + 1, Duration.ofSeconds(60));
        }
    }

    private Range range() {
        int buffer = random.nextInt(BUFFERS);
        int words = model.get(buffer).length;
        int first = random.nextInt(words);
        return new Range(buffer, first, 1 + random.nextInt(Math.min(words - first, 16)));
    }

    /** A submission, or a barrier if the words are in use. */
    private void work(List<BitSet> taken, Fence wait, Fence signal) {
        int which = random.nextInt(views.size());
        boolean recorded = random.nextInt(3) > 0;
        List<Command> commands = new ArrayList<>();
        List<BitSet> mine = new ArrayList<>();
        taken.forEach(_ -> mine.add(new BitSet()));
        for (int n = recorded ? 1 + random.nextInt(5) : 1; n > 0; n--) {
            Command next = command(kernels.get(which) != null);
            if (next != null) {
                commands.add(next);
                take(mine, next.target);
                if (next.source != null) {
                    take(mine, next.source);
                }
            }
        }
        for (int i = 0; i < BUFFERS; i++) {
            if (mine.get(i).intersects(taken.get(i))) {
                views.get(which).queue(0).barrier(wait, signal, 0);
                return;
            }
        }
        for (int i = 0; i < BUFFERS; i++) {
            taken.get(i).or(mine.get(i));
        }
        commands.forEach(this::apply);
        if (recorded || commands.isEmpty()) {
            execute(which, commands, wait, signal);
        } else {
            transfer(which, commands.getFirst(), wait, signal);
        }
    }

    private static void take(List<BitSet> taken, Range range) {
        taken.get(range.buffer).set(range.first, range.first + range.count);
    }

    private @Nullable Command command(boolean dispatches) {
        Range target = range();
        int[] words = random.ints(target.count).toArray();
        Kind kind = any(List.of(Kind.values()));
        if (kind == Kind.FILL || kind == Kind.UPDATE) {
            return new Command(kind, null, target, words);
        }
        Range source = range();
        int count = Math.min(source.count, target.count);
        Range from = new Range(source.buffer, source.first, count);
        Range to = new Range(target.buffer, target.first, count);
        boolean overlap = from.buffer == to.buffer && Math.abs(from.first - to.first) < count;
        boolean impossible = kind == Kind.SCALE ? !dispatches : overlap;
        // A dispatch in place is valid; with shifted ranges the order of elements would be undefined.
        return impossible || overlap && from.first != to.first ? null : new Command(kind, from, to, words);
    }

    private void apply(Command command) {
        int[] target = model.get(command.target.buffer);
        int first = command.target.first;
        int count = command.target.count;
        switch (command.kind) {
            case FILL -> Arrays.fill(target, first, first + count, command.words[0]);
            case UPDATE -> System.arraycopy(command.words, 0, target, first, count);
            case COPY -> System.arraycopy(model.get(command.source.buffer), command.source.first, target, first, count);
            case SCALE -> {
                int[] source = model.get(command.source.buffer);
                for (int i = 0; i < count; i++) {
                    target[first + i] = source[command.source.first + i] * 3 + command.words[0];
                }
            }
        }
    }

    private void transfer(int which, Command command, Fence wait, Fence signal) {
        var queue = views.get(which).queue(0);
        Buffer target = buffers.get(command.target.buffer);
        long at = 4L * command.target.first;
        long bytes = 4L * command.target.count;
        switch (command.kind) {
            case FILL -> queue.fill(wait, signal, target, at, bytes, Integer.toUnsignedLong(command.words[0]), 4, 0);
            case UPDATE ->
                queue.update(wait, signal, MemorySegment.ofArray(command.words).asSlice(0, bytes), target, at, 0);
            case COPY ->
                queue.copy(
                        wait,
                        signal,
                        buffers.get(command.source.buffer),
                        4L * command.source.first,
                        target,
                        at,
                        bytes,
                        0);
            case SCALE -> {
                BindingTable table = new BindingTable();
                for (Range each : List.of(command.source, command.target)) {
                    table.add(buffers.get(each.buffer), 4L * each.first, 4L * each.count);
                }
                queue.dispatch(
                        wait,
                        signal,
                        kernels.get(which),
                        JavaKernels.SCALE,
                        DispatchConfig.of(command.target.count, 1, 1),
                        new int[] {3, command.words[0]},
                        table,
                        0);
            }
        }
    }

    private void execute(int which, List<Command> commands, Fence wait, Fence signal) {
        List<Window> windows = new ArrayList<>();
        BindingTable table = new BindingTable();
        List<Buffer> parts = new ArrayList<>();
        for (int n = random.nextInt(5); n > 0; n--) {
            int buffer = random.nextInt(BUFFERS);
            int words = model.get(buffer).length;
            int first = random.nextInt(words);
            boolean whole = random.nextBoolean();
            Range range = new Range(buffer, first, whole ? words - first : 1 + random.nextInt(words - first));
            windows.add(new Window(range, whole));
            if (random.nextInt(3) == 0) {
                Buffer part = buffers.get(buffer).subspan(4L * first, 4L * range.count);
                parts.add(part);
                table.add(part, 0, whole ? Buffer.WHOLE : part.length());
            } else {
                table.add(buffers.get(buffer), 4L * first, whole ? Buffer.WHOLE : 4L * range.count);
            }
        }
        int spare = random.nextInt(3);
        try (CommandBuffer recorded = views.get(which)
                .createCommandBuffer(
                        random.nextBoolean() ? CommandBuffer.ONE_SHOT : 0,
                        CommandBuffer.TRANSFER | CommandBuffer.DISPATCH,
                        -1,
                        windows.size() + spare)) {
            for (Command each : commands) {
                record(recorded, kernels.get(which), each, windows);
                recorded.executionBarrier(0, 0, 0);
            }
            recorded.finish();
            views.get(which).queue(0).execute(wait, signal, recorded, table.size() == 0 ? null : table, 0);
        } finally {
            parts.forEach(Buffer::close);
        }
    }

    private void record(
            CommandBuffer recorded, @Nullable Executable executable, Command command, List<Window> windows) {
        BufferRef target = ref(command.target, windows);
        switch (command.kind) {
            case FILL -> recorded.fillBuffer(target, Integer.toUnsignedLong(command.words[0]), 4, 0);
            case UPDATE ->
                recorded.updateBuffer(
                        MemorySegment.ofArray(command.words).asSlice(0, 4L * command.target.count), target, 0);
            case COPY -> recorded.copyBuffer(ref(command.source, windows), target, 0);
            case SCALE ->
                recorded.dispatch(
                        executable,
                        JavaKernels.SCALE,
                        DispatchConfig.of(command.target.count, 1, 1),
                        new int[] {3, command.words[0]},
                        List.of(ref(command.source, windows), target),
                        0);
        }
    }

    /** Through a slot around the range, if present, otherwise directly. */
    private BufferRef ref(Range range, List<Window> windows) {
        for (int i = 0; i < windows.size(); i++) {
            Range held = windows.get(i).range;
            int end = range.first + range.count;
            if (held.buffer == range.buffer && held.first <= range.first && end <= held.first + held.count) {
                return BufferRef.slot(i, 4L * (range.first - held.first), 4L * range.count);
            }
        }
        return BufferRef.of(buffers.get(range.buffer), 4L * range.first, 4L * range.count);
    }
}
