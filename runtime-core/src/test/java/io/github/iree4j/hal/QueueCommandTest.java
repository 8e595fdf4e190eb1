package io.github.iree4j.hal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.local.LocalBackend;
import io.github.iree4j.hal.spi.DeviceOptions;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Each method of a queue submits the command of the same name, with the arguments at their places. */
class QueueCommandTest {
    private static final BufferParams MEMORY =
            new BufferParams(MemoryType.HOST_LOCAL | MemoryType.DEVICE_VISIBLE, BufferUsage.DEFAULT);

    private final Device device = new LocalBackend().open(DeviceOptions.builder());
    private final Buffer one = device.allocator().allocate(MEMORY, 16);
    private final Buffer two = device.allocator().allocate(MEMORY, 16);
    private final HalFile file =
            HalFile.ofMemory(MemorySegment.ofArray(new byte[64]), MemoryAccess.READ | MemoryAccess.WRITE, null);
    private final List<QueueCommand> submitted = new ArrayList<>();
    private final DeviceQueue queue = new Recording();

    @AfterEach
    void close() {
        one.close();
        two.close();
        file.close();
        device.close();
    }

    private final class Recording implements DeviceQueue {
        @Override
        public void submit(@Nullable Fence wait, @Nullable Fence signal, QueueCommand command) {
            submitted.add(command);
        }

        @Override
        public Buffer alloca(@Nullable Fence wait, @Nullable Fence signal, BufferParams params, long size, long flags) {
            throw new AssertionError();
        }

        @Override
        public Device device() {
            throw new AssertionError();
        }

        @Override
        public int index() {
            return 0;
        }

        @Override
        public long axis() {
            return 0;
        }

        @Override
        public QueueCounters counters() {
            throw new AssertionError();
        }

        @Override
        public void flush() {}
    }

    @Test
    void transfersKeepTheirArguments() {
        MemorySegment bytes = MemorySegment.ofArray(new byte[3]);
        queue.fill(null, null, one, 1, 2, 3, 4, 0);
        queue.update(null, null, bytes, one, 5, 0);
        queue.copy(null, null, one, 6, two, 7, 8, 0);
        queue.read(null, null, file, 9, one, 10, 11, 0);
        queue.write(null, null, one, 12, file, 13, 14, 0);
        assertThat(submitted)
                .containsExactly(
                        new QueueCommand.Fill(one, 1, 2, 3, 4),
                        new QueueCommand.Update(bytes, one, 5),
                        new QueueCommand.Copy(one, 6, two, 7, 8),
                        new QueueCommand.Read(file, 9, one, 10, 11),
                        new QueueCommand.Write(one, 12, file, 13, 14));
    }

    @Test
    @SuppressWarnings("NullAway") // an unused executable
    void otherOperationsKeepTheirArguments() {
        DispatchConfig config = DispatchConfig.of(2, 3, 4);
        int[] constants = {5};
        BindingTable bindings = BindingTable.of(one, two);
        HostCall call = () -> {};
        DeferredHostCall later = _ -> {};
        CommandBuffer commands = device.createCommandBuffer(0, CommandBuffer.TRANSFER, QueueAffinity.ANY, 0);
        queue.dispatch(null, null, null, 1, config, constants, bindings, 6);
        queue.execute(null, null, commands, bindings, 7);
        queue.dealloca(null, null, one, 8);
        queue.barrier(null, null, 0);
        queue.hostCall(null, null, call, 9);
        queue.deferredHostCall(null, null, later);
        assertThat(submitted)
                .containsExactly(
                        new QueueCommand.Dispatch(null, 1, config, constants, bindings, 6),
                        new QueueCommand.Execute(commands, bindings, 7),
                        new QueueCommand.Dealloca(one, 8),
                        new QueueCommand.Barrier(),
                        new QueueCommand.Call(call, 9),
                        new QueueCommand.DeferredCall(later));
        commands.close();
    }

    @Test
    @SuppressWarnings("NullAway") // on purpose
    void codeIsRequired() {
        assertThatNullPointerException().isThrownBy(() -> queue.hostCall(null, null, null, 0));
        assertThatNullPointerException().isThrownBy(() -> queue.deferredHostCall(null, null, null));
        assertThat(submitted).isEmpty();
    }
}
