package io.github.iree4j.vm.bytecode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.Fixtures;
import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.VmBuffer;
import io.github.iree4j.vm.VmDependency;
import io.github.iree4j.vm.VmFunction;
import io.github.iree4j.vm.VmImport;
import io.github.iree4j.vm.VmTypes;
import io.github.iree4j.vm.asm.VmAssembler;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ModuleFileTest {
    private static final String TEXT = """
            vm.module @m version 3
            vm.attr "module.key" = "module value"
            vm.dependency @hal version 6
            vm.dependency @more version 1 optional
            vm.import @hal.devices.count cconv "0v_i"
            vm.import optional @more.things cconv "0r_v"
            vm.rodata[0] = "inside"
            vm.rodata[1] align 64 external = "outside of the tables"
            vm.export @f
            vm.func @f() -> () {
              vm.attr "iree.abi.declaration" = "sync func @f()"
              %r0 = vm.const.ref.rodata 1
              vm.return
            }
            """;

    private static final byte[] FILE = VmAssembler.assemble(TEXT);

    @Test
    void theModuleHasTheContentsOfItsFile() {
        try (BytecodeModule module = Programs.read(FILE)) {
            assertThat(module.name()).isEqualTo("m");
            assertThat(module.version()).isEqualTo(3);
            assertThat(module.attributes()).containsEntry("module.key", "module value");
            assertThat(module.dependencies())
                    .containsExactly(new VmDependency("hal", 6, true), new VmDependency("more", 1, false));
            assertThat(module.imports())
                    .containsExactly(
                            new VmImport("hal.devices.count", "0v_i", true),
                            new VmImport("more.things", "0r_v", false));
            assertThat(module.exports()).hasSize(1);
            VmFunction f = Objects.requireNonNull(module.resolve("f", "0v_v"));
            assertThat(f.fullName()).isEqualTo("m.f");
            assertThat(f.attributes()).containsEntry("iree.abi.declaration", "sync func @f()");
            assertThat(module.resolve("f", "0i_v")).isNull();
            assertThat(module.resolve("g", "")).isNull();
        }
    }

    @Test
    void constantsAreReadInPlace() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment file = arena.allocate(FILE.length, 64).copyFrom(MemorySegment.ofArray(FILE));
            try (BytecodeModule module = BytecodeModule.read(file, "m", Programs.TYPES, ModuleLimits.DEFAULTS, null)) {
                VmBuffer inside = module.rodata()[0];
                VmBuffer outside = module.rodata()[1];
                assertThat(inside.utf8()).isEqualTo("inside");
                assertThat(outside.utf8()).isEqualTo("outside of the tables");
                assertThat(outside.segment().address()).isBetween(file.address(), file.address() + file.byteSize());
                assertThat(outside.segment().address() % 64).isZero();
                assertThat(inside.isModuleConstant()).isTrue();
                assertThat(inside.isMutable()).isFalse();
                assertThat(inside.segment().isReadOnly()).isTrue();
            }
        }
    }

    @Test
    void moduleInAZipIsFoundAndSoAreItsConstants() {
        byte[] header = new byte[64];
        ByteBuffer zip = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);
        zip.putInt(0, 0x04034B50).putShort(26, (short) 9).putShort(28, (short) (64 - 30 - 9));
        byte[] file = Arrays.copyOf(header, header.length + FILE.length);
        System.arraycopy(FILE, 0, file, header.length, FILE.length);
        try (BytecodeModule module = Programs.read(file)) {
            assertThat(module.rodata()[1].utf8()).isEqualTo("outside of the tables");
        }
    }

    @Test
    void zipWithoutEntriesAndZipInAZipAreNamed() {
        byte[] empty = new byte[22];
        ByteBuffer.wrap(empty).order(ByteOrder.LITTLE_ENDIAN).putInt(0, 0x06054B50);
        assertRejected(empty, StatusCode.INVALID_ARGUMENT, "it is a zip file without entries");
        byte[] twice = new byte[200];
        ByteBuffer.wrap(twice)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(0, 0x04034B50)
                .putInt(30, 0x04034B50);
        assertRejected(twice, StatusCode.INVALID_ARGUMENT, "a zip file whose first entry is one again");
    }

    @Test
    void zipWithItsFirstEntryOutsideIsRejected() {
        byte[] file = new byte[100];
        ByteBuffer.wrap(file)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(0, 0x04034B50)
                .putShort(26, (short) -1)
                .putShort(28, (short) -1);
        assertRejected(file, StatusCode.INVALID_ARGUMENT, "zip file of 100 bytes whose first entry starts at 131100");
    }

    @Test
    void mappedFileIsTheSameModule(@TempDir Path directory) throws Exception {
        Path path = Files.write(directory.resolve("m.vmfb"), FILE);
        try (ModuleBytes bytes = ModuleBytes.map(path);
                BytecodeModule module = BytecodeModule.read(
                        bytes.segment(), bytes.name(), Programs.TYPES, ModuleLimits.DEFAULTS, bytes)) {
            MemorySegment constant = module.rodata()[1].segment();
            assertThat(constant.toArray(ValueLayout.JAVA_BYTE))
                    .asString(StandardCharsets.UTF_8)
                    .isEqualTo("outside of the tables");
            // Users must not do this: it shows that nothing was copied.
            int at = new String(FILE, StandardCharsets.ISO_8859_1).indexOf("outside of the tables");
            try (FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE)) {
                file.write(ByteBuffer.wrap(new byte[] {'O'}), at);
            }
            assertThat(constant.toArray(ValueLayout.JAVA_BYTE))
                    .asString(StandardCharsets.UTF_8)
                    .isEqualTo("Outside of the tables");
        }
    }

    @Test
    void fileMayBeOverwrittenAndTruncatedOnceRead(@TempDir Path directory) throws Exception {
        Path path = Files.write(directory.resolve("m.vmfb"), FILE);
        try (BytecodeModule module = BytecodeModule.open(path, Programs.TYPES, ModuleLimits.DEFAULTS)) {
            Files.write(path, new byte[FILE.length]); // the same file, in place
            assertThat(module.rodata()[1].utf8()).isEqualTo("outside of the tables");
            Files.write(path, new byte[0]);
            assertThat(module.rodata()[1].utf8()).isEqualTo("outside of the tables");
        }
    }

    @Test
    void bytesEndWithTheLastReference(@TempDir Path directory) throws Exception {
        Path path = Files.write(directory.resolve("m.vmfb"), FILE);
        BytecodeModule module = BytecodeModule.open(path, Programs.TYPES, ModuleLimits.DEFAULTS);
        MemorySegment constant = module.rodata()[1].segment();
        var owner = Objects.requireNonNull(module.rodata()[1].owner());
        owner.retain();
        module.close();
        module.close();
        assertThat(constant.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 'o');
        owner.release();
        assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> constant.get(ValueLayout.JAVA_BYTE, 0));
    }

    @Test
    void closedModuleCannotBeLinked() {
        BytecodeModule module = Programs.module("m", "vm.func @f() -> () {\n  vm.return\n}\n");
        module.close();
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> Programs.run(module))
                .withMessageContaining("module 'm' is closed")
                .matches(e -> e.code() == StatusCode.FAILED_PRECONDITION);
    }

    @Test
    void ownerOfTheBytesIsHeldUntilTheModuleIsFreed() {
        boolean[] freed = {false};
        Resource owner = new Resource() {
            @Override
            protected void destroy() {
                freed[0] = true;
            }
        };
        BytecodeModule module =
                BytecodeModule.read(MemorySegment.ofArray(FILE), "m", Programs.TYPES, ModuleLimits.DEFAULTS, owner);
        owner.close();
        assertThat(freed[0]).isFalse();
        module.close();
        assertThat(freed[0]).isTrue();
    }

    @Test
    void missingFileIsNotFound(@TempDir Path directory) {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> BytecodeModule.open(
                        directory.resolve("absent.vmfb"), VmTypes.standard(), ModuleLimits.DEFAULTS))
                .withMessageContaining("absent.vmfb' does not exist")
                .matches(e -> e.code() == StatusCode.NOT_FOUND);
    }

    @Test
    void anotherVersionIsIncompatibleAndBothAreNamedWithTheirReleases() {
        byte[] file = FILE.clone();
        int at = Body.find(file, new byte[] {0, 0, 17, 0});
        file[at + 2] = 14;
        assertRejected(
                file,
                StatusCode.INCOMPATIBLE,
                "it has bytecode 14.0 (IREE before March 2023) and this runtime runs 15.0 to 17.0 (IREE of March 2023 and later)");
        file[at] = 9;
        file[at + 2] = 17;
        assertRejected(file, StatusCode.INCOMPATIBLE, "it has bytecode 17.9");
    }

    @Test
    void unknownTypeIsNotFoundAndTheKnownAreListed() {
        byte[] file = VmAssembler.assemble("vm.module @m\nvm.type !some.thing\nvm.func @f() -> () {\n  vm.return\n}\n");
        assertRejected(
                file,
                StatusCode.NOT_FOUND,
                "module 'm' uses type '!some.thing', which no module of this runtime provides (known: test.counted,"
                        + " test.other, vm.buffer, vm.list)");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 4, 15})
    void fileTooShortForAModuleIsRejected(int length) {
        assertRejected(
                Arrays.copyOf(FILE, length),
                StatusCode.INVALID_ARGUMENT,
                "it has %d bytes where a module has at least 16".formatted(length));
    }

    @Test
    void everyTruncationIsRejected() {
        for (int length = 0; length < FILE.length; length++) {
            byte[] file = Arrays.copyOf(FILE, length);
            assertThatExceptionOfType(IreeException.class)
                    .as("%d of %d bytes", length, FILE.length)
                    .isThrownBy(() -> Programs.read(file));
        }
    }

    @Test
    void otherKindsOfFilesAreRecognized() {
        byte[] file = FILE.clone();
        System.arraycopy("ELF\u007f".getBytes(StandardCharsets.ISO_8859_1), 0, file, 8, 4);
        assertRejected(
                file, StatusCode.INVALID_ARGUMENT, "it is not a module: identifier 'ELF?' where 'IREE' is wanted");
    }

    @Test
    void filesForTheCompilerAreRecognized() {
        assertRejected(
                "module {\n}\n".getBytes(StandardCharsets.UTF_8),
                StatusCode.INVALID_ARGUMENT,
                "it is not a compiled module but a text: if the text is MLIR, compile the program with 'iree-compile'");
        assertRejected(
                "// Größe\r\nfunc.func @f() {\n\treturn\n}".getBytes(StandardCharsets.UTF_8),
                StatusCode.INVALID_ARGUMENT,
                "but a text");
        assertRejected(
                "ML\u00efR\u0003iree-20260101\0".getBytes(StandardCharsets.ISO_8859_1),
                StatusCode.INVALID_ARGUMENT,
                "but MLIR bytecode");
        assertRejected(
                "\u001c\0\0\0TFL3\u0014\0 \0".getBytes(StandardCharsets.ISO_8859_1),
                StatusCode.INVALID_ARGUMENT,
                "but a TensorFlow Lite model: convert the model with 'tosa-converter-for-tflite'");
        assertRejected(
                "\b\n\u0012\u0007pytorch\u001a\u00052.9.0:".getBytes(StandardCharsets.ISO_8859_1),
                StatusCode.INVALID_ARGUMENT,
                "but an ONNX model: convert the model with 'iree-import-onnx'");
    }

    @Test
    void failedDownloadsAreRecognized() {
        assertRejected(
                "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a".getBytes(StandardCharsets.UTF_8),
                StatusCode.INVALID_ARGUMENT,
                "but a pointer of Git LFS: fetch the file itself with 'git lfs pull'");
        for (String page : new String[] {"<!DOCTYPE html>\n<html>", "<?xml version=\"1.0\"?>\n<Error>"}) {
            assertRejected(
                    page.getBytes(StandardCharsets.UTF_8),
                    StatusCode.INVALID_ARGUMENT,
                    "but an HTML or XML page: download the file again");
        }
        assertRejected(
                "{\"message\": \"Not Found\"}".getBytes(StandardCharsets.UTF_8),
                StatusCode.INVALID_ARGUMENT,
                "but a text: if the text is MLIR,");
    }

    @Test
    void aLargeFileOfNoModuleIsRejectedBeforeTakingMemory(@TempDir Path directory) throws Exception {
        Path sparse = directory.resolve("image.vmfb");
        try (RandomAccessFile file = new RandomAccessFile(sparse.toFile(), "rw")) {
            file.setLength(17 << 20);
        }
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> ModuleBytes.read(sparse))
                .withMessageContaining("image.vmfb': it is not a module: identifier '????' where 'IREE' is wanted")
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT));
        try (ModuleBytes parameters = ModuleBytes.readAny(sparse)) {
            assertThat(parameters.segment().byteSize()).isEqualTo(17 << 20);
        }
        Path large = directory.resolve("large.vmfb");
        for (boolean isZip : new boolean[] {false, true}) {
            Files.write(large, isZip ? Files.readAllBytes(Fixtures.file("3.13.0/cpu/add.vmfb")) : FILE);
            try (RandomAccessFile file = new RandomAccessFile(large.toFile(), "rw")) {
                file.setLength(17 << 20);
            }
            try (ModuleBytes module = ModuleBytes.read(large)) {
                assertThat(module.segment().byteSize()).isEqualTo(17 << 20);
            } catch (IreeException e) {
                assertThat(isZip).as(e.getMessage()).isTrue();
                assertThat(e.code()).as("a zip with the end missing").isEqualTo(StatusCode.DATA_LOSS);
            }
        }
    }

    @Test
    void everyChangedByteIsRejectedOrRunsAsSomethingElse() {
        for (int i = 0; i < FILE.length; i++) {
            for (int bit = 0; bit < 8; bit++) {
                byte[] file = FILE.clone();
                file[i] ^= (byte) (1 << bit);
                try {
                    Programs.read(file).close();
                } catch (IreeException e) {
                    assertThat(e.getMessage()).startsWith("module file 'test.vmfb': ");
                }
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "2, 100, 100, 100, 'has 3 elements, more than the limit of 2'",
        "100, 10, 100, 100, 'bytes of code, more than the limit of 10'",
        "100, 1000, 7, 100, 'it has 8 bytes of globals, more than the limit of 7'",
        "100, 1000, 100, 1, 'it has 2 global references, more than the limit of 1'"
    })
    void aFileBeyondTheLimitsIsRefused(int entries, int code, int globals, int refs, String message) {
        byte[] file =
                VmAssembler.assemble("vm.module @m\nvm.type i8\nvm.type i16\nvm.type i32\nvm.state bytes 8 refs 2\n"
                        + "vm.func @f() -> () {\n  %i0 = vm.const.i32 1\n  %i0 = vm.const.i32 1\n  vm.return\n}\n");
        ModuleLimits limits = new ModuleLimits(entries, code, globals, refs);
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(
                        () -> BytecodeModule.read(MemorySegment.ofArray(file), "m", VmTypes.standard(), limits, null))
                .withMessageContaining(message)
                .matches(e -> e.code() == StatusCode.RESOURCE_EXHAUSTED);
    }

    @Test
    void functionsSharingCodeManyTimesAreRejected() {
        // Fifty functions of 4 KiB each, all the same as the first.
        String filler = "  %i0 = vm.const.i32 1\n".repeat(600);
        StringBuilder text = new StringBuilder("vm.module @m\n");
        text.append("vm.func @f() -> () {\n").append(filler).append("  vm.return\n}\n");
        for (int i = 0; i < 50; i++) {
            text.append("vm.func @f%d() -> () {\n  %%i0 = vm.const.i32 %d\n  vm.return\n}\n".formatted(i, i));
        }
        byte[] file = VmAssembler.assemble(text.toString());
        ModuleDef def = ModuleDef.read(MemorySegment.ofArray(file), ModuleLimits.DEFAULTS);
        ModuleDef.Function big = def.functions().getFirst();
        for (ModuleDef.Function function : def.functions()) {
            if (function != big) {
                byte[] descriptor = Body.descriptor(big);
                System.arraycopy(descriptor, 0, file, Body.find(file, Body.descriptor(function)), descriptor.length);
            }
        }
        assertRejected(file, StatusCode.INVALID_ARGUMENT, "its functions share");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "3.11.0/cpu/add.vmfb",
                "3.13.0/cpu/add.vmfb",
                "3.13.0/cpu-arm_64/add.vmfb",
                "3.11.0/cpu/scale.vmfb",
                "3.11.0/cpu/scale2.vmfb",
                "3.11.0/vmvx/simple_mul.vmfb"
            })
    void moduleOfTheCompilerIsAccepted(String name) {
        Path file = Fixtures.file(name);
        VmTypes types = VmTypes.standard();
        for (String type : "allocator buffer buffer_view command_buffer device executable fence".split(" ")) {
            types = types.with("hal." + type, Object.class);
        }
        try (BytecodeModule module = BytecodeModule.open(file, types, ModuleLimits.DEFAULTS)) {
            assertThat(module.exports()).extracting(VmFunction::name).contains("__init");
            assertThat(module.dependencies()).extracting(VmDependency::module).contains("hal");
        }
    }

    private static void assertRejected(byte[] file, StatusCode code, String message) {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> Programs.read(file))
                .withMessageContaining(message)
                .matches(e -> e.code() == code, code.toString());
    }
}
