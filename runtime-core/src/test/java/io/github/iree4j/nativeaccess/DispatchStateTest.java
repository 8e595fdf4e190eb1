package io.github.iree4j.nativeaccess;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.status.IreeException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

class DispatchStateTest {
    @Test
    void limitsAreNamed() {
        DispatchState state = new DispatchState();
        assertThatThrownBy(() -> state.begin(65, 0)).hasMessage("dispatch with 65 constants, the limit is 64");
        assertThatThrownBy(() -> state.begin(0, 65)).hasMessage("dispatch with 65 bindings, the limit is 64");
        assertThatThrownBy(() -> state.begin(-1, 0)).hasMessageContaining("-1 constants");
        assertThatThrownBy(() -> state.workgroupCount(1, 1, 65536))
                .hasMessage("workgroup count z is 65536, the limit is 65535");
        assertThatThrownBy(() -> state.workgroupSize(1, 1, -1))
                .hasMessage("workgroup size z is 4294967295, the limit is 65535");
    }

    @Test
    void bindingsMustFitNativeMemory() {
        DispatchState state = new DispatchState().begin(0, 1);
        assertThatThrownBy(() -> state.binding(0, MemorySegment.ofArray(new byte[8]), 0, 8))
                .hasMessage("binding 0 is heap memory; kernels need native memory");
        MemorySegment memory = Arena.ofAuto().allocate(100);
        assertThatThrownBy(() -> state.binding(0, memory, 96, 8))
                .hasMessage("binding 0 [96, +8) does not fit memory of 100 bytes");
        assertThatThrownBy(() -> state.binding(0, memory, 8, Long.MAX_VALUE)).isInstanceOf(IreeException.class);
        assertThatThrownBy(() -> state.binding(0, memory, -8, 8)).isInstanceOf(IreeException.class);
        assertThatThrownBy(() -> state.binding(1, memory, 0, 8)).isInstanceOf(IndexOutOfBoundsException.class);
        state.binding(0, memory, 100, 0);
    }

    @Test
    void bindingsMustBeOpen() {
        DispatchState state = new DispatchState().begin(0, 1);
        MemorySegment freed;
        try (Arena arena = Arena.ofConfined()) {
            freed = arena.allocate(8);
        }
        assertThatThrownBy(() -> state.binding(0, freed, 0, 8)).hasMessage("memory of binding 0 is closed");
    }

    @Test
    void constantIndicesAreChecked() {
        DispatchState state = new DispatchState().begin(2, 0);
        assertThatThrownBy(() -> state.constant(2, 0)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> state.constants(new int[3], 2)).isInstanceOf(IndexOutOfBoundsException.class);
    }
}
