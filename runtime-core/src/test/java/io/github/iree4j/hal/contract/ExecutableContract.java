package io.github.iree4j.hal.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.ExecutableParams;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/** The contract of every backend's executables and single dispatches. */
public abstract class ExecutableContract extends DeviceContract {
    private static final int[] NONE = {};

    /** On a backend, closed after each test. */
    protected ExecutableContract(Backend backend) {
        super(backend);
    }

    private void dispatch(
            Fence signal,
            Executable executable,
            int export,
            DispatchConfig config,
            int[] constants,
            Buffer... bindings) {
        queue.dispatch(null, signal, executable, export, config, constants, BindingTable.of(bindings), 0);
    }

    @Test
    void addsFourInts() {
        Executable kernels = closed(kernels(device));
        Buffer out = ints(0, 0, 0, 0);
        Fence done = fence();
        dispatch(
                done,
                kernels,
                JavaKernels.ADD,
                DispatchConfig.of(4, 1, 1),
                NONE,
                ints(1, 2, 3, 4),
                ints(10, 20, 30, 40),
                out);
        done.await();
        assertThat(read(out)).containsExactly(11, 22, 33, 44);
    }

    @Test
    void exportsAreFoundByName() {
        Executable kernels = closed(kernels(device));
        assertThat(kernels.lookup("scale")).isEqualTo(JavaKernels.SCALE);
        assertThat(kernels.export(JavaKernels.SCALE).constantCount()).isEqualTo(2);
        assertThat(kernels.export(JavaKernels.SCALE).bindingCount()).isEqualTo(2);
        assertFails(StatusCode.NOT_FOUND, "has no export 'nope'; it has 6: add, scale", () -> kernels.lookup("nope"));
        assertFails(StatusCode.OUT_OF_RANGE, "export 6", () -> kernels.export(6));
        assertFails(StatusCode.OUT_OF_RANGE, "export -1", () -> kernels.export(-1));
    }

    @Test
    void passesConstants() {
        Executable kernels = closed(kernels(device));
        Buffer out = ints(0, 0);
        Fence done = fence();
        dispatch(done, kernels, JavaKernels.SCALE, DispatchConfig.of(2, 1, 1), new int[] {3, 100}, ints(1, 2), out);
        done.await();
        assertThat(read(out)).containsExactly(103, 106);
    }

    @Test
    void workgroupsCoverTheWholeGrid() {
        Executable kernels = closed(kernels(device));
        Buffer out = ints(new int[2 * 3 * 4]);
        Fence done = fence();
        dispatch(done, kernels, JavaKernels.COORDINATES, DispatchConfig.of(2, 3, 4), NONE, out);
        done.await();
        int[] expected = new int[24];
        for (int i = 0; i < 24; i++) {
            expected[i] = i % 2 | i / 2 % 3 << 8 | i / 6 << 16;
        }
        assertThat(read(out)).containsExactly(expected);
    }

    @Test
    void aCountOfZeroRunsNothing() {
        Executable kernels = closed(kernels(device));
        for (DispatchConfig config :
                new DispatchConfig[] {DispatchConfig.of(0, 1, 1), DispatchConfig.of(1, 0, 1), DispatchConfig.of(1, 1, 0)
                }) {
            Fence done = fence();
            dispatch(done, kernels, JavaKernels.FAIL, config, NONE);
            done.await();
        }
    }

    @Test
    void specialisesKernels() {
        for (int constant : new int[] {77, -5}) {
            assertThat(facts(constant)[0]).as("specialisation constant").isEqualTo(constant);
        }
    }

    @Test
    void tellsKernelsTheLengthOfBindingsAndNeverMoreThanThereIs() {
        assertThat(facts(77)[4]).as("binding length").isEqualTo(backend.has(Capability.BINDING_LENGTHS) ? 40 : 0);
        Fence beyond = fence();
        BindingTable table = new BindingTable().add(ints(new int[10]), 4, 40);
        Executable kernels = closed(kernels(device));
        queue.dispatch(null, beyond, kernels, JavaKernels.FACTS, DispatchConfig.of(1, 1, 1), NONE, table, 0);
        assertFails(beyond, StatusCode.OUT_OF_RANGE, "40 bytes");
    }

    private int[] facts(int constant) {
        Executable kernels = closed(kernels(device, constant));
        Buffer out = ints(new int[10]);
        Fence done = fence();
        dispatch(done, kernels, JavaKernels.FACTS, DispatchConfig.of(1, 1, 1), NONE, out);
        done.await();
        return read(out);
    }

    @Test
    void tellsKernelsSizesAndMemoryOrRefusesToTell() {
        Executable kernels = closed(kernels(device, 77));
        if (!backend.has(Capability.HOST_KERNELS)) {
            assertSizesMatchTheKernel(kernels);
            return;
        }
        Buffer out = ints(new int[10]);
        Fence done = fence();
        dispatch(done, kernels, JavaKernels.FACTS, new DispatchConfig(1, 1, 1, 5, 0, 7, 4096), NONE, out);
        done.await();
        int[] facts = read(out);
        assertThat(facts[0]).as("specialisation constant").isEqualTo(77);
        assertThat(facts[1]).as("size x").isEqualTo(5);
        assertThat(facts[2]).as("size y, 1 unless given").isEqualTo(1);
        assertThat(facts[3]).as("size z").isEqualTo(7);
        assertThat(facts[4]).as("binding length").isEqualTo(40);
        assertThat(facts[5]).as("local memory, declared and dynamic").isEqualTo(8192 + 4096);
    }

    private void assertSizesMatchTheKernel(Executable kernels) {
        Fence sizes = fence();
        dispatch(sizes, kernels, JavaKernels.FACTS, new DispatchConfig(1, 1, 1, 5, 0, 7, 0), NONE, ints(new int[10]));
        assertFails(sizes, StatusCode.INVALID_ARGUMENT, "asks for workgroups of 5x0x7, it was compiled for 1x1x1");
        Fence memory = fence();
        DispatchConfig local = new DispatchConfig(1, 1, 1, 1, 1, 1, 4096);
        dispatch(memory, kernels, JavaKernels.FACTS, local, NONE, ints(new int[10]));
        assertFails(memory, StatusCode.UNIMPLEMENTED, "asks for 4096 bytes of local memory");
    }

    @Test
    void bindsPartsOfBuffers() {
        Executable kernels = closed(kernels(device));
        Buffer all = ints(new int[64]);
        Buffer part = closed(all.subspan(64, 128));
        Fence done = fence();
        BindingTable table = new BindingTable().add(part, 64, 16);
        queue.dispatch(null, done, kernels, JavaKernels.COORDINATES, DispatchConfig.of(4, 1, 1), NONE, table, 0);
        done.await();
        assertThat(read(all)[31]).isZero();
        assertThat(read(all)[33]).isEqualTo(1);
        assertThat(read(all)[35]).isEqualTo(3);
        assertThat(read(all)[36]).isZero();
    }

    /** The message of a failed kernel's signal: the kernel's status, or the loss of the device. */
    private void assertKernelFails(int export, StatusCode code, String message) {
        assume(Capability.FAILING_KERNELS);
        Fence done = fence();
        boolean isOfHost = backend.has(Capability.HOST_KERNELS);
        try (Executable kernels = kernels(device)) {
            dispatch(done, kernels, export, DispatchConfig.of(1, 1, 1), NONE);
            assertFails(done, isOfHost ? code : StatusCode.ABORTED, isOfHost ? message : "is lost");
        }
    }

    @Test
    void aFailingKernelFailsTheSignal() {
        assertKernelFails(JavaKernels.FAIL, StatusCode.DATA_LOSS, "kernel failed on purpose");
    }

    @Test
    void aKernelThrowingAnythingElseIsAnInternalFailure() {
        assertKernelFails(JavaKernels.CRASH, StatusCode.INTERNAL, "kernel crashed");
    }

    @Test
    void workAfterAFailedKernelGoesOnUnlessTheDeviceIsLost() {
        assertKernelFails(JavaKernels.FAIL, StatusCode.DATA_LOSS, "kernel failed on purpose");
        if (!backend.has(Capability.HOST_KERNELS)) {
            Fence lost = closed(Fence.adopt(TimelineSemaphore.create(0), 1));
            queue.barrier(null, lost, 0);
            assertFails(lost, StatusCode.ABORTED, "is lost");
            device.close(); // the next call is another
            openDevice();
        }
        Executable kernels = closed(kernels(device));
        Buffer out = ints(0);
        Fence done = fence();
        dispatch(done, kernels, JavaKernels.ADD, DispatchConfig.of(1, 1, 1), NONE, ints(1), ints(2), out);
        done.await();
        assertThat(read(out)).containsExactly(3);
    }

    @Test
    void countsOfConstantsAndBindingsMustMatch() {
        Executable kernels = closed(kernels(device));
        Fence constants = fence();
        dispatch(constants, kernels, JavaKernels.SCALE, DispatchConfig.of(1, 1, 1), NONE, ints(1), ints(2));
        assertFails(constants, StatusCode.INVALID_ARGUMENT, "dispatch 'scale' passes 0 constants, the export takes 2");
        Fence bindings = fence();
        dispatch(bindings, kernels, JavaKernels.ADD, DispatchConfig.of(1, 1, 1), NONE, ints(1), ints(2));
        assertFails(bindings, StatusCode.INVALID_ARGUMENT, "dispatch 'add' passes 2 bindings, the export takes 3");
        Fence many = fence();
        queue.dispatch(
                null, many, kernels, JavaKernels.FAIL, DispatchConfig.of(1, 1, 1), new int[65], new BindingTable(), 0);
        assertFails(many, StatusCode.INVALID_ARGUMENT, "65 constants");
    }

    @Test
    void countsBeyondTheLimitsAreRefused() {
        Executable kernels = closed(kernels(device));
        Fence z = fence();
        dispatch(z, kernels, JavaKernels.FAIL, DispatchConfig.of(1, 1, 65536), NONE);
        assertFails(z, StatusCode.OUT_OF_RANGE, "workgroup count z of dispatch 'fail' is 65536, the limit is 65535");
        if (!backend.has(Capability.HOST_KERNELS)) {
            return; // other counts are for the device to limit, sizes are the shader's own
        }
        Fence all = fence();
        dispatch(all, kernels, JavaKernels.FAIL, DispatchConfig.of(-1, -1, 65535), NONE);
        assertFails(all, StatusCode.OUT_OF_RANGE, "4294967295x4294967295x65535 workgroups");
        Fence local = fence();
        dispatch(local, kernels, JavaKernels.FAIL, new DispatchConfig(1, 1, 1, 1, 1, 1, -1), NONE);
        assertFails(local, StatusCode.RESOURCE_EXHAUSTED, "dispatch asks for 4294967295 bytes of local memory");
        Fence size = fence();
        dispatch(size, kernels, JavaKernels.FAIL, new DispatchConfig(1, 1, 1, 1, 1, 65536, 0), NONE);
        assertFails(size, StatusCode.OUT_OF_RANGE, "workgroup size z");
    }

    @Test
    void unsuitableBindingsAreRefused() {
        Executable kernels = closed(kernels(device));
        Fence done = fence();
        queue.dispatch(
                null,
                done,
                kernels,
                JavaKernels.COORDINATES,
                DispatchConfig.of(1, 1, 1),
                NONE,
                new BindingTable().add(ints(1, 2), 4, 8),
                0);
        assertFails(
                done, StatusCode.OUT_OF_RANGE, "slot 0 of the binding table [4, 12) does not fit buffer of 8 bytes");
    }

    @Test
    void anUnknownFormatIsRefusedNamingTheKnownFormats() {
        ExecutableParams params = new ExecutableParams("no-such-format", MemorySegment.ofArray(new byte[8]));
        assertFails(
                StatusCode.INCOMPATIBLE,
                "cannot run executables of format 'no-such-format', it runs ",
                () -> device.createExecutable(params));
    }

    @Test
    void queryAnswersWhetherAFormatRuns() {
        assertThat(device.queryI64("hal.executable.format", "no-such-format")).hasValue(0);
        try (Executable kernels = kernels(device)) {
            assertThat(device.queryI64("hal.executable.format", kernels.format()))
                    .hasValue(1);
        }
    }

    @Test
    void aWaitingDispatchKeepsItsExecutableAndBuffers() {
        Executable kernels = kernels(device);
        Fence go = fence();
        Fence done = fence();
        Buffer out = ints(0);
        try (Buffer a = device.allocator().allocate(PARAMS, 4);
                Buffer b = device.allocator().allocate(PARAMS, 4)) {
            a.map(2, 0, 4).set(INT, 0, 5);
            b.map(2, 0, 4).set(INT, 0, 6);
            queue.dispatch(
                    go,
                    done,
                    kernels,
                    JavaKernels.ADD,
                    DispatchConfig.of(1, 1, 1),
                    NONE,
                    BindingTable.of(a, b, out),
                    0);
        }
        kernels.close();
        assertThat(done.isReached()).isFalse();
        go.signal();
        done.await();
        assertThat(read(out)).containsExactly(11);
        assertThat(kernels.isLive()).isFalse();
    }

    @Test
    void constantsAndBindingsAreReadWhenSubmitted() {
        Executable kernels = closed(kernels(device));
        Fence go = fence();
        Fence done = fence();
        Buffer in = ints(2);
        Buffer out = ints(0);
        int[] constants = {3, 0};
        BindingTable table = BindingTable.of(in, out);
        queue.dispatch(go, done, kernels, JavaKernels.SCALE, DispatchConfig.of(1, 1, 1), constants, table, 0);
        constants[0] = 1000;
        table.clear();
        go.signal();
        done.await();
        assertThat(read(out)).containsExactly(6);
    }

    @Test
    void aDispatchOfNothingHasItsPlaceInTheOrder() {
        Executable kernels = closed(kernels(device));
        Fence wait = fence();
        Fence done = fence();
        Buffer out = ints(99);
        BindingTable table = BindingTable.of(ints(1), out);
        queue.dispatch(wait, done, kernels, JavaKernels.SCALE, DispatchConfig.of(0, 1, 1), new int[2], table, 0);
        assertThat(done.isReached()).isFalse();
        wait.signal();
        done.await();
        assertThat(read(out)).containsExactly(99);
    }

    @Test
    void hintsAmongFlagsChangeNoResult() {
        Executable kernels = closed(kernels(device));
        Buffer in = ints(1, 2);
        long both = DeviceQueue.DISPATCH_BORROW_RESOURCE_LIFETIMES | DeviceQueue.DISPATCH_ALLOW_INLINE_EXECUTION;
        for (long flags : new long[] {DeviceQueue.DISPATCH_BORROW_RESOURCE_LIFETIMES, both}) {
            Buffer out = ints(0, 0);
            Fence done = fence();
            BindingTable table = BindingTable.of(in, out);
            DispatchConfig two = DispatchConfig.of(2, 1, 1);
            queue.dispatch(null, done, kernels, JavaKernels.SCALE, two, new int[] {3, 10}, table, flags);
            done.await();
            assertThat(read(out)).containsExactly(13, 16);
        }
    }
}
