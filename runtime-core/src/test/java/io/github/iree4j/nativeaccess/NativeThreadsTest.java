package io.github.iree4j.nativeaccess;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.BitSet;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;

class NativeThreadsTest {
    private static <T> T onNewThread(Callable<T> body) throws Exception {
        FutureTask<T> task = new FutureTask<>(body);
        Thread.ofPlatform().daemon().start(task);
        return task.get();
    }

    @Test
    void affinityIsOfTheCallingThreadOnly() throws Exception {
        long[] before = NativeThreads.affinity();
        int processor = BitSet.valueOf(before).nextSetBit(0);
        BitSet one = new BitSet();
        one.set(processor);
        long[] after = onNewThread(() -> {
            NativeThreads.setAffinity(one.toLongArray());
            return NativeThreads.affinity();
        });
        assertThat(after).containsExactly(one.toLongArray());
        assertThat(NativeThreads.affinity()).containsExactly(before);
    }

    @Test
    void affinityWithoutAUsableProcessorIsRefused() throws Exception {
        BitSet last = new BitSet();
        last.set(8191);
        onNewThread(() -> {
            long[] before = NativeThreads.affinity();
            assertThatThrownBy(() -> NativeThreads.setAffinity(last.toLongArray()))
                    .isInstanceOfSatisfying(
                            IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT))
                    .hasMessageContaining("none of the processors");
            assertThatThrownBy(() -> NativeThreads.setAffinity(new long[0]))
                    .hasMessageContaining("none of the processors");
            assertThatThrownBy(() -> NativeThreads.setAffinity(new long[129])).hasMessageContaining("limit of 8192");
            assertThat(NativeThreads.affinity()).containsExactly(before);
            return null;
        });
    }

    /** The kernel adds; Java does the same before, after and concurrently. */
    @Test
    void kernelsFlushDenormalsAndJavaNeverDoes() throws Exception {
        float denormal = Float.MIN_NORMAL / 2;
        assertThat(onNewThread(() -> flushed(denormal))).isTrue();
        assertThat(flushed(denormal)).isTrue();
    }

    private static boolean flushed(float denormal) {
        try (CpuLibrary library = TestKernels.basic();
                Arena arena = Arena.ofConfined()) {
            MemorySegment data = arena.allocate(3 * 64, 64);
            data.set(ValueLayout.JAVA_FLOAT, 0, denormal);
            data.set(ValueLayout.JAVA_FLOAT, 64, Float.MIN_VALUE);
            DispatchState state = new DispatchState()
                    .begin(0, 3)
                    .workgroupCount(1, 1, 1)
                    .binding(0, data, 0, 4)
                    .binding(1, data, 64, 4)
                    .binding(2, data, 128, 4);
            library.dispatch(library.lookup("add"), state, 0, 1, MemorySegment.NULL, 0);
            assertThat(NativeThreads.flushesDenormals()).isFalse();
            assertThat(data.get(ValueLayout.JAVA_FLOAT, 0) + data.get(ValueLayout.JAVA_FLOAT, 64))
                    .isEqualTo(denormal + Float.MIN_VALUE)
                    .isGreaterThan(0);
            return data.get(ValueLayout.JAVA_FLOAT, 128) == 0;
        }
    }
}
