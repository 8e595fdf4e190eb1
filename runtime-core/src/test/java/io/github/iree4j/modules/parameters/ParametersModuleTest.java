package io.github.iree4j.modules.parameters;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

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
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class ParametersModuleTest {
    private static final String LOAD = "0rIrrrIiirrr_r";
    private static final String GATHER = "0rIrrrrrrr_v";
    private static final String SCATTER = "0rIrrrrrrr_v";
    private static final int MEMORY = MemoryType.DEVICE_LOCAL | MemoryType.HOST_VISIBLE;
    private static final int MAPPED = BufferUsage.DEFAULT | BufferUsage.MAPPING;

    @TempDir
    Path directory;

    private final Device device = new LocalDriverProvider().open("local", DeviceOptions.DEFAULTS);
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
        assertThat(model.isLive())
                .as("provider after the contexts of its module")
                .isFalse();
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
    void storedUnwrittenParametersAreUsedInPlace() {
        VmList list = parameters.one(
                "load", LOAD, arguments("model", MAPPED | BufferUsage.SHARING_IMMUTABLE, new Span("stored", 0, 0, 16)));
        Buffer buffer = (Buffer) list.ref(0);
        MemorySegment mapped = ((ParameterEntry.Stored) model.find("stored").orElseThrow()).data();
        assertThat(buffer.map(MemoryAccess.READ, 0, Buffer.WHOLE).address()).isEqualTo(mapped.address());
        buffer.retain();
        list.release();
        model.close();
        bias.close();
        parameters.close();
        assertThat(floats(buffer))
                .as("after the end of the module and its providers")
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
    void gathersIntoASingleBufferAfterTheWait() {
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
    void aMissingScopeIsNamedWithTheExistingScopes() {
        assertThat(failure(StatusCode.NOT_FOUND, arguments("weights", MAPPED)))
                .hasMessageContaining("scope 'weights'")
                .hasMessageContaining("'model', 'bias'")
                .hasMessageContaining("--parameters=weights=FILE");
        assertThat(failure(StatusCode.NOT_FOUND, arguments(null, MAPPED))).hasMessageContaining("--parameters=FILE");
    }

    @Test
    void aMissingKeyIsNamedWithTheExistingKeysAndFailsTheFence() {
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
    void inconsistentTablesAreRefused() {
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

    private Object[] scatterArguments(Buffer source, String scope, Span... spans) {
        List<Object> arguments = new ArrayList<>(List.of(device, -1L));
        arguments.add(null);
        arguments.addAll(List.of(done, source, VmBuffer.ofUtf8(scope)));
        arguments.addAll(tables(spans));
        return arguments.toArray();
    }

    @Test
    void parametersOfArchivesOpenForReadingCannotBeWritten() {
        Buffer source = device.allocator().allocate(BufferParams.DEFAULT, 16);
        Object[] arguments = scatterArguments(source, "model", new Span("stored", 0, 0, 16));
        assertThat(parameters.failure(StatusCode.PERMISSION_DENIED, "scatter", SCATTER, arguments))
                .hasMessageContaining("'stored' of scope 'model'")
                .hasMessageContaining("openWritable");
        assertThat(done.query()).isEqualTo(StatusCode.PERMISSION_DENIED);
        source.close();
    }

    /** A module over a single archive writable by programs. */
    private ModuleCalls writable(Path file) {
        try (ParameterArchive archive = ParameterArchive.openWritable(file);
                ParameterProvider provider = ParameterProvider.of("state", archive)) {
            return new ModuleCalls(ParametersModule.create(List.of(provider)));
        }
    }

    @Test
    void scattersABufferToWritableParameters() throws IOException {
        Path file = directory.resolve("state.irpa");
        new IrpaWriter().stored("a", 1, 2, 3, 4).stored("b", 5, 6).write(file);
        Buffer source = device.allocator().allocate(BufferParams.DEFAULT, 16);
        source.map(MemoryAccess.DISCARD_WRITE, 0, 16).copyFrom(MemorySegment.ofArray(new float[] {10, 20, 30, 40}));
        ModuleCalls calls = writable(file);
        calls.call(
                "scatter",
                SCATTER,
                scatterArguments(
                        source, "state", new Span("a", 4, 8, 8), new Span("b", 0, 0, 4), new Span("b", 4, 4, 0)));
        done.await();
        calls.close();
        source.close();
        try (ParameterArchive archive = ParameterArchive.open(file)) {
            assertThat(floats(archive, "a")).containsExactly(1, 30, 40, 4);
            assertThat(floats(archive, "b")).containsExactly(10, 6);
        }
    }

    @Test
    void storingReportsItsProgressToo() throws IOException {
        Path file = directory.resolve("state.irpa");
        new IrpaWriter().stored("a", 1, 2, 3, 4).stored("b", 5, 6).write(file);
        Buffer source = device.allocator().allocate(BufferParams.DEFAULT, 24);
        List<ParameterProgress> heard = Collections.synchronizedList(new ArrayList<>());
        try (ParameterArchive archive = ParameterArchive.openWritable(file);
                ParameterProvider provider = ParameterProvider.of("state", archive);
                ModuleCalls calls = new ModuleCalls(ParametersModule.create(List.of(provider), heard::add))) {
            calls.call(
                    "scatter",
                    SCATTER,
                    scatterArguments(source, "state", new Span("a", 0, 0, 16), new Span("b", 0, 16, 8)));
            done.await();
            assertThat(heard)
                    .extracting(ParameterProgress::doneBytes)
                    .isSorted()
                    .endsWith(24L);
            assertThat(heard)
                    .extracting(ParameterProgress::phase)
                    .contains(ParameterProgress.Phase.STORING)
                    .endsWith(ParameterProgress.Phase.STORED)
                    .doesNotContain(ParameterProgress.Phase.LOADING, ParameterProgress.Phase.FAILED);
            assertThat(heard.getFirst().file()).isNotNull().hasFileName("state.irpa");
            assertThat(heard).allMatch(p -> p.totalBytes() == 24 && p.scope().equals("state"));
            heard.clear();
            Object[] missing = scatterArguments(source, "state", new Span("none", 0, 0, 8));
            calls.failure(StatusCode.NOT_FOUND, "scatter", SCATTER, missing);
            assertThat(heard).extracting(ParameterProgress::phase).containsExactly(ParameterProgress.Phase.FAILED);
        }
        source.close();
    }

    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "on Windows a mapped file can be neither replaced nor shortened")
    void aTruncatedFileFailsTheReadingRequest() throws IOException {
        Path file = directory.resolve("shrinking.irpa");
        new IrpaWriter().stored("a", new float[4096]).write(file);
        try (ParameterArchive archive = ParameterArchive.open(file);
                ParameterProvider provider = ParameterProvider.of("shrinking", archive);
                ModuleCalls calls = new ModuleCalls(ParametersModule.create(List.of(provider)))) {
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                channel.truncate(256); // accesses to the mapping behind raise SIGBUS
            }
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(
                            () -> calls.one("load", LOAD, arguments("shrinking", MAPPED, new Span("a", 0, 0, 16_384))))
                    .withMessageContaining("shrinking.irpa' had ")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.DATA_LOSS));
            assertThatExceptionOfType(IreeException.class)
                    .isThrownBy(done::await)
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.DATA_LOSS));
        }
    }

    @Test
    @DisabledOnOs(value = OS.WINDOWS, disabledReason = "on Windows a mapped file can be neither replaced nor shortened")
    void aFileReplacedUnderItsNameIsReadThroughItsMapping() throws IOException {
        Path file = directory.resolve("replaced.irpa");
        new IrpaWriter().stored("a", 1, 2).write(file);
        try (ParameterArchive archive = ParameterArchive.open(file);
                ParameterProvider provider = ParameterProvider.of("replaced", archive);
                ModuleCalls calls = new ModuleCalls(ParametersModule.create(List.of(provider)))) {
            Path other = directory.resolve("other.irpa");
            new IrpaWriter().stored("a", 7, 8).write(other);
            Files.move(other, file, StandardCopyOption.REPLACE_EXISTING);
            VmList list = calls.one("load", LOAD, arguments("replaced", MAPPED, new Span("a", 0, 0, 8)));
            done.await();
            assertThat(floats((Buffer) list.ref(0))).containsExactly(1, 2);
            list.release();
        }
    }

    private static float[] floats(ParameterArchive archive, String key) {
        return ((ParameterEntry.Stored) archive.find(key).orElseThrow())
                .data()
                .toArray(ValueLayout.JAVA_FLOAT_UNALIGNED);
    }

    @Test
    void splatsCannotBeWrittenAndScatterStaysInBounds() throws IOException {
        Path file = directory.resolve("state.irpa");
        new IrpaWriter().stored("a", 1, 2).splat("s", 8, (byte) 1).write(file);
        Buffer source = device.allocator().allocate(BufferParams.DEFAULT, 8);
        ModuleCalls calls = writable(file);
        Object[] splat = scatterArguments(source, "state", new Span("s", 0, 0, 8));
        assertThat(calls.failure(StatusCode.PERMISSION_DENIED, "scatter", SCATTER, splat))
                .hasMessageContaining("it is a splat");
        Object[] beyond = scatterArguments(source, "state", new Span("a", 4, 0, 8));
        assertThat(calls.failure(StatusCode.OUT_OF_RANGE, "scatter", SCATTER, beyond))
                .hasMessageContaining("'a'");
        Object[] outside = scatterArguments(source, "state", new Span("a", 0, 4, 8));
        assertThat(calls.failure(StatusCode.OUT_OF_RANGE, "scatter", SCATTER, outside))
                .hasMessageContaining("'a'");
        calls.close();
        source.close();
    }

    @Test
    void archivesOfAllFormatsServeTheSameScope() throws IOException {
        Path irpa = directory.resolve("one.irpa");
        new IrpaWriter().stored("in.irpa", 1).write(irpa);
        Path gguf = new FileBytes()
                .text("GGUF")
                .u32(3)
                .u64(1, 0)
                .string("in.gguf")
                .u32(1)
                .u64(1)
                .u32(0)
                .u64(0)
                .align(32)
                .f32(2)
                .write(directory.resolve("two.gguf"));
        String header = "{\"in.safetensors\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}}";
        Path safetensors =
                new FileBytes().u64(header.length()).text(header).f32(3).write(directory.resolve("three.safetensors"));
        ModuleCalls calls;
        try (ParameterArchive one = ParameterArchive.open(irpa);
                ParameterArchive two = ParameterArchive.open(gguf);
                ParameterArchive three = ParameterArchive.open(safetensors);
                ParameterProvider first = ParameterProvider.of("all", one);
                ParameterProvider second = ParameterProvider.of("all", two, three)) {
            calls = new ModuleCalls(ParametersModule.create(List.of(first, second)));
        }
        VmList list = calls.one(
                "load",
                LOAD,
                arguments(
                        "all",
                        MAPPED,
                        new Span("in.safetensors", 0, 0, 4),
                        new Span("in.gguf", 0, 0, 4),
                        new Span("in.irpa", 0, 0, 4)));
        done.await();
        assertThat(floats((Buffer) list.ref(0))).containsExactly(3);
        assertThat(floats((Buffer) list.ref(1))).containsExactly(2);
        assertThat(floats((Buffer) list.ref(2))).containsExactly(1);
        list.release();
        calls.close();
    }

    /** Loads with a listener. */
    private List<ParameterProgress> heard(int usage, Span... spans) {
        List<ParameterProgress> heard = Collections.synchronizedList(new ArrayList<>());
        ModuleCalls calls = new ModuleCalls(ParametersModule.create(List.of(model), heard::add));
        VmList list = calls.one("load", LOAD, arguments("model", usage, spans));
        done.await();
        list.release();
        calls.close();
        return List.copyOf(heard);
    }

    @Test
    void progressRisesToTheTotalAndNamesTheFile() {
        List<ParameterProgress> heard =
                heard(MAPPED, new Span("stored", 0, 0, 16), new Span("late", 0, 0, 4), new Span("splat", 0, 0, 8));
        assertThat(heard).allSatisfy(p -> {
            assertThat(p.scope()).isEqualTo("model");
            assertThat(p.totalBytes()).isEqualTo(28);
        });
        assertThat(heard).extracting(ParameterProgress::doneBytes).isSorted().endsWith(28L);
        assertThat(heard)
                .filteredOn(p -> p.phase() == ParameterProgress.Phase.LOADING)
                .extracting(p -> p.file() == null ? "" : p.file().getFileName().toString())
                .containsExactlyInAnyOrder("weights.irpa", "more.irpa", "");
        assertThat(heard.getLast().phase()).isEqualTo(ParameterProgress.Phase.LOADED);
        assertThat(heard)
                .filteredOn(p -> p.phase() == ParameterProgress.Phase.LOADED)
                .hasSize(1);
    }

    @Test
    void parametersUsedInPlaceAreAvailableAtOnce() {
        List<ParameterProgress> heard = heard(MAPPED | BufferUsage.SHARING_IMMUTABLE, new Span("stored", 0, 0, 16));
        assertThat(heard)
                .extracting(ParameterProgress::phase)
                .containsExactly(ParameterProgress.Phase.LOADING, ParameterProgress.Phase.LOADED);
    }

    @Test
    void aFailingRequestIsReportedOnce() {
        List<ParameterProgress> heard = new ArrayList<>();
        ModuleCalls calls = new ModuleCalls(ParametersModule.create(List.of(model), heard::add));
        calls.failure(StatusCode.NOT_FOUND, "load", LOAD, arguments("model", MAPPED, new Span("none", 0, 0, 4)));
        calls.close();
        assertThat(heard).extracting(ParameterProgress::phase).containsExactly(ParameterProgress.Phase.FAILED);
    }

    @Test
    void aThrowingListenerIsHarmless() {
        ModuleCalls calls = new ModuleCalls(ParametersModule.create(List.of(model), _ -> {
            throw new IllegalStateException("listener");
        }));
        VmList list = calls.one("load", LOAD, arguments("model", MAPPED, new Span("stored", 0, 0, 16)));
        done.await();
        assertThat(floats((Buffer) list.ref(0))).containsExactly(1, 2, 3, 4);
        list.release();
        calls.close();
    }

    @Test
    void largeParametersArriveInPieces() {
        long length = 2 * TransferBatch.PIECE + 16;
        List<ParameterProgress> heard = new ArrayList<>();
        ParameterProvider large = new ParameterProvider("large") {
            @Override
            public Optional<ParameterEntry> find(String key) {
                return Optional.of(new ParameterEntry.Splat(key, length, bytes(16)));
            }

            @Override
            public List<String> keys() {
                return List.of("wide");
            }

            @Override
            protected void destroy() {}
        };
        ModuleCalls calls = new ModuleCalls(ParametersModule.create(List.of(large), p -> {
            synchronized (heard) {
                heard.add(p);
            }
        }));
        VmList list = calls.one("load", LOAD, arguments("large", MAPPED, new Span("wide", 0, 0, length)));
        done.await();
        MemorySegment all = ((Buffer) list.ref(0)).map(MemoryAccess.READ, 0, Buffer.WHOLE);
        for (long at : new long[] {0, TransferBatch.PIECE - 1, TransferBatch.PIECE, length - 1}) {
            assertThat(all.get(ValueLayout.JAVA_BYTE, at)).isEqualTo((byte) (at % 16));
        }
        list.release();
        calls.close();
        large.close();
        synchronized (heard) {
            assertThat(heard)
                    .extracting(ParameterProgress::doneBytes)
                    .hasSizeBetween(3, 4)
                    .isSorted()
                    .endsWith(length);
        }
    }

    @Test
    void formsOfNovember2023MoveASingleParameter() throws IOException {
        Buffer loaded = parameters.one(
                "load",
                "0rIrrrrIIiiI_r",
                device,
                -1L,
                null,
                done,
                VmBuffer.ofUtf8("model"),
                VmBuffer.ofUtf8("stored"),
                4L,
                -1L,
                MEMORY,
                MAPPED,
                12L);
        done.await();
        assertThat(loaded.map(MemoryAccess.READ, 0, Buffer.WHOLE).toArray(ValueLayout.JAVA_FLOAT))
                .containsExactly(2, 3, 4);
        try (Fence read = Fence.at(timeline, 2)) {
            parameters.call(
                    "read",
                    "0rIrrrrIrII_v",
                    device,
                    -1L,
                    null,
                    read,
                    VmBuffer.ofUtf8("model"),
                    VmBuffer.ofUtf8("stored"),
                    0L,
                    loaded,
                    4L,
                    8L);
            read.await();
        }
        assertThat(loaded.map(MemoryAccess.READ, 0, Buffer.WHOLE).toArray(ValueLayout.JAVA_FLOAT))
                .containsExactly(2, 1, 2);
        Path file = directory.resolve("state.irpa");
        new IrpaWriter().stored("a", 0, 0, 0).write(file);
        ModuleCalls calls = writable(file);
        try (Fence written = Fence.at(timeline, 3)) {
            calls.call(
                    "write",
                    "0rIrrrrIrII_v",
                    device,
                    -1L,
                    null,
                    written,
                    VmBuffer.ofUtf8("state"),
                    VmBuffer.ofUtf8("a"),
                    4L,
                    loaded,
                    0L,
                    8L);
            written.await();
        }
        calls.close();
        loaded.release();
        try (ParameterArchive archive = ParameterArchive.open(file)) {
            assertThat(floats(archive, "a")).containsExactly(0, 2, 1);
        }
    }
}
