package io.github.iree4j.spring.test;

import io.github.iree4j.Tensor;
import io.github.iree4j.async.AwaitsFences;
import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmCall;
import io.github.iree4j.vm.VmModule;
import io.github.iree4j.vm.VmWait;
import java.util.ArrayList;
import java.util.List;

/** A module of scripted functions: a call waits for the virtual device, then follows the script. */
final class FakeModule {
    private final String program;
    private final FakeHardware hardware;
    private final List<FakeCall> calls;

    private FakeModule(String program, FakeHardware hardware, List<FakeCall> calls) {
        this.program = program;
        this.hardware = hardware;
        this.calls = calls;
    }

    static VmModule of(String name, FakeProgram program, FakeHardware hardware, List<FakeCall> calls) {
        FakeModule module = new FakeModule(name, hardware, calls);
        NativeModule.Builder<FakeModule> builder = NativeModule.builder(name.replace('.', '_'), 1, () -> module);
        program.functions()
                .forEach((function, fake) -> builder.function(
                                function,
                                FakeSignature.convention(fake.signature()),
                                (state, call) -> state.call(fake, call))
                        .attribute("iree.abi.declaration", "sync func @" + function + fake.signature()));
        return builder.build();
    }

    /** Work in flight; closed when the call is cancelled. */
    private record Work(TimelineSemaphore timeline, Fence done, int index) implements AutoCloseable {
        @Override
        public void close() {
            done.release();
            timeline.release();
        }
    }

    private void call(FakeFunction function, VmCall call) {
        if (!call.resumed()) {
            TimelineSemaphore timeline = hardware.device().createSemaphore(0, Device.SEMAPHORE_DEFAULT);
            Work work = new Work(timeline, Fence.at(timeline, 1), begin(function));
            call.attach(work);
            hardware.work(function.nanos(), work.done);
            call.defer(new FenceReached(work.done));
            return;
        }
        if (!(call.attachment() instanceof Work work)) {
            throw new IllegalStateException(function.name());
        }
        call.attach(null);
        try (work) {
            work.done.failure().ifPresent(failure -> {
                throw failure;
            });
            end(work.index);
            answer(function, call);
        }
    }

    private int begin(FakeFunction function) {
        synchronized (calls) {
            calls.add(FakeCall.begun(program + "." + function.name(), hardware.now()));
            return calls.size() - 1;
        }
    }

    private void end(int index) {
        synchronized (calls) {
            if (index < calls.size()) {
                calls.set(index, calls.get(index).ended(hardware.now()));
            }
        }
    }

    private void answer(FakeFunction function, VmCall call) {
        List<Object> inputs = new ArrayList<>();
        List<Tensor> tensors = new ArrayList<>();
        for (char kind = call.peek(); kind != 0; kind = call.peek()) {
            inputs.add(input(kind, call, tensors));
        }
        List<?> results = function.answer(inputs);
        String kinds = call.function().convention().results();
        for (int i = 0; i < kinds.length(); i++) {
            give(kinds.charAt(i), results.get(i), call);
        }
    }

    private static Object input(char kind, VmCall call, List<Tensor> tensors) {
        return switch (kind) {
            case 'i' -> call.i32();
            case 'I' -> call.i64();
            case 'f' -> call.f32();
            case 'F' -> call.f64();
            default -> {
                BufferView view = call.required(BufferView.class);
                Tensor tensor = Tensor.copyOf(
                        view.buffer().map(MemoryAccess.READ, 0, view.byteLength()),
                        view.elementType(),
                        view.shape().dimensions());
                tensors.add(tensor);
                yield tensor;
            }
        };
    }

    private void give(char kind, Object value, VmCall call) {
        switch (kind) {
            case 'i' -> call.returnI32(((Number) value).intValue());
            case 'I' -> call.returnI64(((Number) value).longValue());
            case 'f' -> call.returnF32(((Number) value).floatValue());
            case 'F' -> call.returnF64(((Number) value).doubleValue());
            default -> call.returnRef(view((Tensor) value));
        }
    }

    private BufferView view(Tensor tensor) {
        Buffer buffer = hardware.device().allocator().allocate(BufferParams.DEFAULT, tensor.byteSize());
        try {
            tensor.copyTo(buffer.map(MemoryAccess.DISCARD_WRITE, 0, tensor.byteSize()));
            return BufferView.create(buffer, tensor.shape(), tensor.elementType(), BufferView.ENCODING_DENSE_ROW_MAJOR);
        } finally {
            buffer.release();
        }
    }

    /** A wait, ready when the fence is reached or has failed. */
    private record FenceReached(Fence fence) implements VmWait, AwaitsFences {
        @Override
        public List<Fence> awaited() {
            return List.of(fence);
        }

        @Override
        public boolean isReady() {
            return fence.query() != StatusCode.DEFERRED;
        }

        @Override
        public void whenReady(Runnable callback) {
            fence.whenReached(failure -> callback.run());
        }

        @Override
        public void await() throws InterruptedException {
            try {
                fence.await();
            } catch (IreeException e) {
                if (e.code() == StatusCode.CANCELLED && Thread.interrupted()) {
                    throw (InterruptedException) new InterruptedException().initCause(e);
                }
                // else the call looks at the fence
            }
        }
    }
}
