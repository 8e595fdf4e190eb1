package io.github.iree4j.modules.vmvx;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.Context;
import io.github.iree4j.vm.ContextOptions;
import io.github.iree4j.vm.Invocation;
import io.github.iree4j.vm.VmBuffer;
import io.github.iree4j.vm.VmFunction;
import io.github.iree4j.vm.VmModule;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Offsets, strides, sizes and flags at the boundaries of their ranges: each call succeeds or is refused. */
class VmvxHostileArgumentsTest {
    private static final long[] EDGES = {
        0,
        1,
        2,
        3,
        4,
        7,
        8,
        15,
        16,
        31,
        64,
        255,
        256,
        -1,
        -2,
        1L << 31,
        (1L << 31) - 1,
        1L << 32,
        1L << 33,
        1L << 60,
        1L << 61,
        1L << 62,
        Long.MAX_VALUE,
        Long.MAX_VALUE - 1,
        Long.MIN_VALUE,
        Long.MIN_VALUE + 1,
        Long.MAX_VALUE / 2,
        Long.MAX_VALUE / 4
    };

    private static final int[] FLAGS = {
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0x101, 0x102, 0x103, 0x104, 0x201, 0x301, 0x304, 0x10A, 0x506, 0x800, -1
    };

    @TestFactory
    Stream<DynamicTest> everyFunctionRefusesUnsuitableArguments() {
        VmModule module = VmvxModule.create();
        return module.exports().stream()
                .map(function -> DynamicTest.dynamicTest(function.name(), () -> attack(module, function)));
    }

    private static void attack(VmModule module, VmFunction function) {
        long seed = Long.getLong("iree4j.test.seed", 20261120L);
        SplittableRandom random = new SplittableRandom(seed);
        int succeeded = 0;
        try (Context context = Context.create(List.of(module), ContextOptions.DEFAULTS);
                Invocation call = context.invocation(function)) {
            for (int round = 0; round < 1500; round++) {
                StringBuilder given = new StringBuilder();
                boolean mild = random.nextInt(3) != 0; // usually small numbers, for calls to get far
                String letters = function.convention().arguments();
                for (int i = 0; i < letters.length(); i++) {
                    switch (letters.charAt(i)) {
                        case 'r' ->
                            call.ref(VmBuffer.wrap(
                                    MemorySegment.ofArray(new byte[random.nextInt(600)]),
                                    random.nextInt(8) != 0,
                                    null));
                        case 'I' -> {
                            long value = EDGES[random.nextInt(mild ? 9 : EDGES.length)];
                            given.append(' ').append(value);
                            call.i64(value);
                        }
                        default -> {
                            int value = i == letters.length() - 1
                                    ? FLAGS[random.nextInt(FLAGS.length)]
                                    : (int) EDGES[random.nextInt(mild ? 9 : EDGES.length)];
                            given.append(' ').append(value);
                            call.i32(value);
                        }
                    }
                }
                try {
                    call.run();
                    succeeded++;
                } catch (IreeException e) {
                    assertThat(e.code())
                            .as("'%s' of%s, seed %d: %s", function.name(), given, seed, e)
                            .isNotIn(StatusCode.INTERNAL, StatusCode.UNKNOWN);
                }
                call.reset();
            }
        }
        assertThat(succeeded).as("fitting calls, seed %d", seed).isPositive();
    }
}
