package io.github.iree4j.modules.parameters;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.MemoryAccess;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.local.LocalDriverProvider;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.modules.ModuleCalls;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.VmBuffer;
import io.github.iree4j.vm.VmList;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ParametersModuleTest {
    private static final String LOAD = "0rIrrrIiirrr_r";
    private static final String GATHER = "0rIrrrrrrr_v";
    private static final String SCATTER = "0rIrrrrrrr_v";
    private static final int MEMORY = MemoryType.DEVICE_LOCAL | MemoryType.HOST_VISIBLE;
    private static final int MAPPED = BufferUsage.DEFAULT | BufferUsage.MAPPING;

    @TempDir
    Path directory;

    private final Device device = new LocalDriverProvider().open("local", DeviceOptions.DEFAULT);
    private final TimelineSemaphore timeline = TimelineSemaphore.create(0);
    private final Fence done = Fence.at(timeline, 1);
    private ParameterProvider model;
    private ParameterProvider bias;
    private ModuleCalls parameters;

    @BeforeEach
    void openArchives() throws IOException {
        Path weights = directory.resolve("weights.irpa");
        Path more = directory.resolve("more.irpa");
        new IrpaWriter()
                .stored("stored", 1, 2, 3, 4)
                .splat("splat", 16, (byte) 0, (byte) 0, (byte) 0, (byte) 0x40)
                .splat("wide", 48, bytes(16))
                .write(weights);
        new IrpaWriter().stored("late", 9).stored("stored", 5).write(more);
        try (ParameterArchive first = ParameterArchive.open(weights);
                ParameterArchive second = ParameterArchive.open(more)) {
            model = ParameterProvider.of("model", first, second);
            bias = ParameterProvider.of("bias", second);
        }
        parameters = new ModuleCalls(ParametersModule.create(List.of(model, bias)));
    }

    private static byte[] bytes(int count) {
        byte[] bytes = new byte[count];
        for (int i = 0; i < count; i++) {
            bytes[i] = (byte) i;
        }
        return bytes;
    }

    @AfterEach
    void nothingIsLeft() {
        model.close();
        bias.close();
        parameters.close();
        done.close();
        timeline.close();
        assertThat(device.allocator().statistics().bytesLive()).isZero();
        assertThat(model.isLive()).as("provider after its module's contexts").isFalse();
        device.close();
    }

    private record Span(String key, long parameterOffset, long bufferOffset, long length) {}

    private Object[] arguments(Object scope, int usage, Span... spans) {
        List<Object> arguments = new ArrayList<>(List.of(device, -1L));
        arguments.add(null);
        arguments.add(done);
        arguments.add(scope == null ? null : VmBuffer.ofUtf8((String) scope));
        arguments.addAll(List.of(-1L, MEMORY, usage));
        arguments.addAll(tables(spans));
        return arguments.toArray();
    }

    private static List<VmBuffer> tables(Span... spans) {
        StringBuilder keys = new StringBuilder();
        ByteBuffer table = ByteBuffer.allocate(spans.length * 8).order(ByteOrder.LITTLE_ENDIAN);
        ByteBuffer ranges = ByteBuffer.allocate(spans.length * 24).order(ByteOrder.LITTLE_ENDIAN);
        for (Span span : spans) {
            table.putInt(keys.length()).putInt(span.key.length());
            keys.append(span.key);
            ranges.putLong(span.parameterOffset).putLong(span.bufferOffset).putLong(span.length);
        }
        return List.of(
                wrap(table.array()), wrap(keys.toString().getBytes(StandardCharsets.UTF_8)), wrap(ranges.array()));
    }

    private static VmBuffer wrap(byte[] bytes) {
        return VmBuffer.wrap(MemorySegment.ofArray(bytes), false, null);
    }

    private static float[] floats(Buffer buffer) {
        return buffer.map(MemoryAccess.READ, 0, Buffer.WHOLE).toArray(ValueLayout.JAVA_FLOAT);
    }

    @Test
    void loadsStoredAndSplatParametersOfSeveralArchives() {
        VmList list = parameters.one(
                "load",
                LOAD,
                arguments(
                        "model",
                        MAPPED,
                        new Span("splat", 0, 0, 16),
                        new Span("stored", 4, 0, 8),
                        new Span("late", 0, 0, 4),
                        new Span("wide", 5, 0, 6),
                        new Span("stored", 0, 0, 0)));
        done.await();
        assertThat(list.size()).isEqualTo(5);
        assertThat(floats((Buffer) list.ref(0))).containsExactly(2, 2, 2, 2);
        assertThat(floats((Buffer) list.ref(1))).containsExactly(2, 3);
        assertThat(floats((Buffer) list.ref(2))).containsExactly(9);
        assertThat(((Buffer) list.ref(3))
                        .map(MemoryAccess.READ, 0, Buffer.WHOLE)
                        .toArray(ValueLayout.JAVA_BYTE))
                .containsExactly(5, 6, 7, 8, 9, 10);
        list.release();
    }

    @Test
    void storedParametersThatStayAsTheyAreAreUsedWhereTheyAreMapped() {
        VmList list = parameters.one(
                "load", LOAD, arguments("model", MAPPED | BufferUsage.SHARING_IMMUTABLE, new Span("stored", 0, 0, 16)));
        Buffer buffer = (Buffer) list.ref(0);
        MemorySegment mapped = ((ParameterEntry.Stored) model.find("stored")).data();
        assertThat(buffer.map(MemoryAccess.READ, 0, Buffer.WHOLE).address()).isEqualTo(mapped.address());
        buffer.retain();
        list.release();
        model.close();
        bias.close();
        parameters.close();
        assertThat(floats(buffer))
                .as("after the module and its providers are gone")
                .containsExactly(1, 2, 3, 4);
        buffer.release();
        assertThat(mapped.scope().isAlive()).as("mapping after the last buffer").isFalse();
    }

    @Test
    void loadingNothingSignalsAtOnce() {
        VmList list = parameters.one("load", LOAD, arguments("bias", MAPPED));
        assertThat(list.size()).isZero();
        assertThat(done.isReached()).isTrue();
        list.release();
    }

    @Test
    void gathersIntoOneBufferAfterTheWait() {
        Buffer target = device.allocator().allocate(BufferParams.DEFAULT, 32);
        try (TimelineSemaphore before = TimelineSemaphore.create(0);
                Fence wait = Fence.at(before, 1)) {
            List<Object> arguments =
                    new ArrayList<>(List.of(device, -1L, wait, done, VmBuffer.ofUtf8("model"), target));
            arguments.addAll(tables(
                    new Span("stored", 0, 0, 4),
                    new Span("stored", 12, 4, 4),
                    new Span("splat", 4, 8, 8),
                    new Span("late", 0, 16, 4),
                    new Span("wide", 1, 20, 12)));
            parameters.call("gather", GATHER, arguments.toArray());
            assertThat(done.isReached()).as("before the wait is over").isFalse();
            before.signal(1);
            done.await();
        }
        assertThat(floats(target)).startsWith(1, 4, 2, 2, 9);
        assertThat(target.map(MemoryAccess.READ, 20, 12).toArray(ValueLayout.JAVA_BYTE))
                .containsExactly(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
        target.close();
    }

    @Test
    void aMissingScopeIsNamedWithThoseThatAreThere() {
        assertThat(failure(StatusCode.NOT_FOUND, arguments("weights", MAPPED)))
                .hasMessageContaining("scope 'weights'")
                .hasMessageContaining("'model', 'bias'")
                .hasMessageContaining("--parameters=weights=FILE");
        assertThat(failure(StatusCode.NOT_FOUND, arguments(null, MAPPED))).hasMessageContaining("--parameters=FILE");
    }

    @Test
    void aMissingKeyIsNamedWithThoseThatAreThereAndFailsTheFence() {
        assertThat(failure(
                        StatusCode.NOT_FOUND,
                        arguments("model", MAPPED, new Span("splat", 0, 0, 16), new Span("none", 0, 0, 4))))
                .hasMessageContaining("scope 'model' has no parameter 'none'")
                .hasMessageContaining("'stored', 'splat', 'wide', 'late'");
        assertThat(done.query()).isEqualTo(StatusCode.NOT_FOUND);
    }

    @Test
    void spansOutsideOfTheirParameterAreRefused() {
        for (Span span : List.of(
                new Span("stored", 8, 0, 12),
                new Span("stored", -1, 0, 4),
                new Span("stored", 4, 0, -1),
                new Span("splat", Long.MAX_VALUE, 0, Long.MAX_VALUE),
                new Span("splat", 0, 4, 4))) {
            assertThat(failure(StatusCode.OUT_OF_RANGE, arguments("model", MAPPED, span)))
                    .hasMessageContaining("'" + span.key + "'");
        }
    }

    @Test
    void tablesThatDoNotFitTogetherAreRefused() {
        Object[] odd = arguments("model", MAPPED, new Span("stored", 0, 0, 4));
        odd[10] = wrap(new byte[23]);
        assertThat(failure(StatusCode.INVALID_ARGUMENT, odd)).hasMessageContaining("23 bytes");
        Object[] few = arguments("model", MAPPED, new Span("stored", 0, 0, 4));
        few[8] = wrap(new byte[7]);
        assertThat(failure(StatusCode.INVALID_ARGUMENT, few)).hasMessageContaining("'key_table'");
        Object[] outside = arguments("model", MAPPED, new Span("stored", 0, 0, 4));
        outside[9] = wrap(new byte[3]);
        assertThat(failure(StatusCode.OUT_OF_RANGE, outside)).hasMessageContaining("'key_data' of 3 bytes");
    }

    private IreeException failure(StatusCode code, Object[] arguments) {
        return parameters.failure(code, "load", LOAD, arguments);
    }

    @Test
    void parametersCannotBeWritten() {
        Buffer source = device.allocator().allocate(BufferParams.DEFAULT, 16);
        List<Object> arguments = new ArrayList<>(List.of(device, -1L));
        arguments.add(null);
        arguments.addAll(List.of(done, source, VmBuffer.ofUtf8("model")));
        arguments.addAll(tables(new Span("stored", 0, 0, 16)));
        assertThat(parameters.failure(StatusCode.PERMISSION_DENIED, "scatter", SCATTER, arguments.toArray()))
                .hasMessageContaining("'stored'");
        source.close();
    }
}
