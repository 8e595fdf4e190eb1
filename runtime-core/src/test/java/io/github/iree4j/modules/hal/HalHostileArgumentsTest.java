package io.github.iree4j.modules.hal;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.github.iree4j.Effort;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.ChannelParams;
import io.github.iree4j.hal.Collective;
import io.github.iree4j.hal.CommandBuffer;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.hal.HalFile;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.hal.local.LocalDriverProvider;
import io.github.iree4j.hal.spi.CpuOptions;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.lifetime.RefCounted;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.Context;
import io.github.iree4j.vm.ContextOptions;
import io.github.iree4j.vm.Invocation;
import io.github.iree4j.vm.VmBuffer;
import io.github.iree4j.vm.VmFunction;
import io.github.iree4j.vm.VmModule;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/**
 * Calls every function of the hal module with arguments never passed by a compiler. The test learns the type of each
 * reference from the failures, so most calls pass the type checks.
 */
@Tag("long")
class HalHostileArgumentsTest {
    private static final int CALLS = Effort.rounds(60_000, 1_000_000);
    private static final long SEED = Effort.seed(HalHostileArgumentsTest.class, CALLS + " calls", 20260801);
    private static final int POOL = 96;
    private static final int FIXED = 31;
    private static final int[] INTS = {
        0,
        0,
        1,
        1,
        2,
        3,
        4,
        8,
        16,
        0x12,
        Collective.of(Collective.ALL_REDUCE, Collective.SUM, Collective.S8).packed(),
        0x30,
        0x46,
        0xC03,
        0x0900_0C03,
        0x2100_0020,
        -1,
        17,
        65,
        1 << 16,
        Integer.MAX_VALUE,
        Integer.MIN_VALUE
    };
    private static final long[] LONGS = {
        0, 0, 0, 0, 1, 2, 4, 8, 12, 16, 64, -1, -1, -2, 63, 4096, 1L << 32, Long.MAX_VALUE, Long.MIN_VALUE
    };

    private static final Pattern WANTED = Pattern.compile("argument (\\d+) of '.*' is .* where a (\\w+) is wanted");

    private final Random random = new Random(SEED);
    private final Map<String, String> wanted = new HashMap<>();
    private final List<Object> pool = new ArrayList<>();
    private int argument;
    private boolean tame;

    /** Failures of operations without a signal fence are logged, and there are thousands here. */
    private final Logger log = (Logger) LoggerFactory.getLogger("io.github.iree4j.hal");

    @BeforeEach
    void quiet() {
        log.setLevel(Level.OFF);
    }

    @AfterEach
    void loud() {
        log.setLevel(null);
    }

    @Test
    void argumentsCanAtMostFailTheCall() {
        AddKernel kernel = new AddKernel();
        Device device = new LocalDriverProvider()
                .open(
                        "local",
                        DeviceOptions.builder()
                                .with(CpuOptions.DEFAULTS.workers(1).loader(kernel))
                                .memoryLimit(1 << 20)
                                .build());
        VmModule module = HalModule.create(List.of(device), (key, views) -> {});
        Context context = Context.create(List.of(module), ContextOptions.DEFAULTS);
        Map<String, Integer> succeeded = new HashMap<>();
        List<Invocation> calls = new ArrayList<>();
        long functions =
                module.exports().stream().map(VmFunction::toString).distinct().count();
        for (VmFunction function : module.exports()) {
            Invocation call = context.invocation(function);
            // These need many valid arguments, so they are tried more often.
            int weight = function.name().contains("dispatch") || function.name().contains("collective") ? 10 : 1;
            for (int n = 0; n < weight; n++) {
                calls.add(call);
            }
        }
        // A function may be missed by chance; then continue for a while, for reports of impossible functions only.
        for (int i = 0; i < CALLS || i < 4 * CALLS && succeeded.size() < functions; i++) {
            if (i % 1000 == 0) {
                fill(device);
                fillWithDescriptors(context, module, device);
            }
            Invocation call = calls.get(random.nextInt(calls.size()));
            try {
                pass(call);
                if (call.start()) {
                    keepResults(call);
                    succeeded.merge(call.function().toString(), 1, Integer::sum);
                }
            } catch (IreeException e) {
                learn(call.function(), e);
                // Programs may fail their fences with any status.
                if (!e.getMessage().contains("failed by the program")) {
                    assertThat(e.code())
                            .as("seed %d, call %d of %s: %s", SEED, i, call.function(), e.getMessage())
                            .isNotEqualTo(StatusCode.INTERNAL);
                }
            } finally {
                call.reset();
            }
        }
        // A test with failures of all calls would show nothing.
        List<String> never = module.exports().stream()
                .map(VmFunction::toString)
                .filter(name -> !succeeded.containsKey(name))
                .filter(name -> !name.contains("execute.commands")) // fails whatever is passed
                .toList();
        if (CALLS >= 60_000) {
            assertThat(never).as("functions without a success, seed " + SEED).isEmpty();
        }
        assertThat(succeeded).as("functions with a success, seed " + SEED).hasSizeGreaterThan((int) functions / 2);
        calls.forEach(Invocation::close);
        clear();
        context.close();
        device.close();
        assertThat(device.allocator().statistics().bytesLive())
                .as("seed " + SEED)
                .isZero();
        assertThat(kernel.closed).as("executables closed, seed " + SEED).hasValue(kernel.loaded.get());
    }

    /** Drops earlier results and starts with objects usable in calls. */
    private void fill(Device device) {
        clear();
        pool.add(device);
        pool.add(device);
        pool.add(device.allocator());
        for (String text : List.of("hal.device.id", "local*", AddKernel.FORMAT, AddKernel.FORMAT, "add", "")) {
            pool.add(VmBuffer.ofUtf8(text));
        }
        pool.add(VmBuffer.wrap(MemorySegment.ofArray(new byte[64]), true, null));
        pool.add(VmBuffer.wrap(MemorySegment.ofArray(new byte[64]), false, null));
        for (int i = 0; i < 3; i++) {
            Buffer buffer = device.allocator()
                    .allocate(
                            new BufferParams(
                                    BufferParams.DEFAULT.memoryType(),
                                    BufferParams.DEFAULT.usage() | BufferUsage.DISPATCH_INDIRECT_PARAMETERS),
                            64);
            pool.add(buffer);
            pool.add(BufferView.create(buffer, Shape.of(1, 4), ElementType.I32, BufferView.ENCODING_DENSE_ROW_MAJOR));
            pool.add(device.createCommandBuffer(0, 3, -1, i));
            try (TimelineSemaphore timeline = TimelineSemaphore.create(0)) {
                pool.add(Fence.at(timeline, 1));
            }
        }
        for (int i = 0; i < 2; i++) { // of a single participant, so nothing waits
            pool.add(device.createChannel(-1, ChannelParams.of("", 0, 1)));
        }
        pool.add(HalFile.ofMemory(Arena.ofAuto().allocate(64), MemoryAccess.READ | MemoryAccess.WRITE, null));
        pool.add(device.createExecutable(new ExecutableParams(AddKernel.FORMAT, MemorySegment.NULL)));
    }

    /** Layouts of the older dispatches, an executable with layouts, and something pushed to each command buffer. */
    private void fillWithDescriptors(Context context, VmModule module, Device device) {
        Object set = made(
                context,
                module.resolve("descriptor_set_layout.create", ""),
                call -> call.ref(device)
                        .i32(0)
                        .span(2)
                        .i32(0)
                        .i32(7)
                        .i32(0)
                        .i32(1)
                        .i32(7)
                        .i32(0));
        Object layout = made(
                context,
                module.resolve("pipeline_layout.create", ""),
                call -> call.ref(device).i32(1).span(1).ref(set));
        Object executable = made(
                context,
                module.resolve("executable.create", "0rrrrCrD_r"),
                call -> call.ref(device)
                        .ref(VmBuffer.ofUtf8(AddKernel.FORMAT))
                        .ref(VmBuffer.ofUtf8(""))
                        .ref((Object) null)
                        .span(2)
                        .ref(layout)
                        .ref(layout));
        Object buffer =
                pool.stream().filter(Buffer.class::isInstance).findFirst().orElseThrow();
        for (Object commands : List.copyOf(pool)) {
            if (commands instanceof CommandBuffer) {
                try (Invocation call = context.invocation(module.resolve("command_buffer.push_descriptor_set", ""))) {
                    call.ref(commands).ref(layout).i32(0).span(2);
                    for (int ordinal = 0; ordinal < 2; ordinal++) {
                        call.i32(ordinal).i32(0).ref(buffer).i64(0).i64(64);
                    }
                    call.run();
                }
            }
        }
        pool.addAll(List.of(set, layout, layout, executable));
    }

    private static Object made(Context context, VmFunction function, Consumer<Invocation> arguments) {
        try (Invocation call = context.invocation(function)) {
            arguments.accept(call);
            call.run();
            return call.takeRef(Object.class);
        }
    }

    private void learn(VmFunction function, IreeException e) {
        Matcher matcher = WANTED.matcher(e.getMessage());
        if (matcher.find()) {
            wanted.put(function + "#" + matcher.group(1), matcher.group(2));
        }
    }

    private void clear() {
        for (Object object : pool) {
            release(object);
        }
        pool.clear();
    }

    private static void release(Object object) {
        if (object instanceof RefCounted counted && !(object instanceof VmBuffer)) {
            counted.release();
        }
    }

    private void pass(Invocation call) {
        argument = 0;
        tame = random.nextInt(4) == 0;
        String letters = call.function().convention().arguments();
        for (int at = 0; at < letters.length(); at++) {
            if (letters.charAt(at) == 'C') {
                int end = letters.indexOf('D', at);
                int tuples = tame ? (end - at > 2 ? 2 : 1) : random.nextInt(10) == 0 ? 130 : random.nextInt(3);
                call.span(tuples);
                argument++;
                for (int n = 0; n < tuples; n++) {
                    for (int k = at + 1; k < end; k++) {
                        pass(call, letters.charAt(k));
                    }
                }
                at = end;
            } else {
                pass(call, letters.charAt(at));
            }
        }
    }

    private void pass(Invocation call, char letter) {
        switch (letter) {
            case 'i' ->
                call.i32(
                        tame
                                ? random.nextInt(2)
                                : random.nextInt(20) == 0 ? random.nextInt() : INTS[random.nextInt(INTS.length)]);
            case 'I' ->
                call.i64(
                        tame
                                ? random.nextInt(2) - random.nextInt(2)
                                : random.nextInt(20) == 0 ? random.nextLong() : LONGS[random.nextInt(LONGS.length)]);
            case 'r' -> call.ref(reference(wanted.get(call.function() + "#" + argument)));
            default -> throw new AssertionError(letter);
        }
        argument++;
    }

    private Object reference(String type) {
        if (random.nextInt(12) == 0) {
            return null;
        }
        Object any = pool.get(random.nextInt(pool.size()));
        for (int i = 0; type != null && i < 200 && !isA(any.getClass(), type); i++) {
            any = random.nextInt(400) == 0 ? any : pool.get(random.nextInt(pool.size()));
        }
        return any;
    }

    private static boolean isA(Class<?> type, String name) {
        for (Class<?> c = type; c != null; c = c.getSuperclass()) {
            if (c.getSimpleName().equals(name)
                    || java.util.Arrays.stream(c.getInterfaces())
                            .anyMatch(i -> i.getSimpleName().equals(name))) {
                return true;
            }
        }
        return false;
    }

    private void keepResults(Invocation call) {
        for (char letter : call.function().convention().results().toCharArray()) {
            switch (letter) {
                case 'i' -> call.i32();
                case 'I' -> call.i64();
                case 'r' -> keep(call.takeRef(Object.class));
                default -> throw new AssertionError(letter);
            }
        }
    }

    private void keep(Object object) {
        if (object == null) {
            return;
        }
        if (pool.size() < POOL) {
            pool.add(object);
            return;
        }
        // The first objects are needed by most functions.
        int index = FIXED + random.nextInt(POOL - FIXED);
        release(pool.get(index));
        pool.set(index, object);
    }
}
