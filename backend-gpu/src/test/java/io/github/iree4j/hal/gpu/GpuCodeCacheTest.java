package io.github.iree4j.hal.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.BindingTable;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferUsage;
import io.github.iree4j.hal.DispatchConfig;
import io.github.iree4j.hal.Executable;
import io.github.iree4j.hal.MemoryType;
import io.github.iree4j.hal.contract.JavaKernels;
import io.github.iree4j.hal.spi.DeviceOptions;
import io.github.iree4j.hal.spi.GpuOptions;
import io.github.iree4j.hal.stream.StreamDevice;
import io.github.iree4j.nativeaccess.gpu.FakeGpu;
import io.github.iree4j.nativeaccess.gpu.GpuDevice;
import io.github.iree4j.nativeaccess.gpu.GpuKind;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Machine code kept between runs, on a driver without hardware. */
@Timeout(120)
class GpuCodeCacheTest {
    private static final BufferParams OF_DEVICE = new BufferParams(MemoryType.DEVICE_LOCAL, BufferUsage.DEFAULT);

    @TempDir
    private Path libraries;

    @TempDir
    private Path files;

    private GpuDrivers fake;

    @BeforeEach
    void open() {
        fake = GpuDrivers.fake(libraries, GpuKind.CUDA, "");
    }

    @AfterEach
    void nothingToComplainOf() {
        fake.assertNothingToComplainOf();
    }

    private FakeGpu library() {
        return Objects.requireNonNull(fake.library());
    }

    private StreamDevice device(String directory) {
        return fake.open(DeviceOptions.builder().with(GpuOptions.DEFAULTS.compiledCode(directory)));
    }

    /** Loads the kernels of the contract and runs a kernel; returns how often the driver compiled. */
    private long run(String directory) {
        library().forget();
        try (StreamDevice device = device(directory);
                Executable kernels = GpuKernels.load(device);
                Buffer buffer = device.allocator().allocate(OF_DEVICE, 64);
                TimelineSemaphore done = TimelineSemaphore.create(0);
                Fence one = Fence.at(done, 1)) {
            buffer.write(0, MemorySegment.ofArray(new int[16]));
            device.queue(0)
                    .dispatch(
                            null,
                            one,
                            kernels,
                            JavaKernels.SCALE,
                            DispatchConfig.of(16, 1, 1),
                            new int[] {1, 9},
                            BindingTable.of(buffer, buffer),
                            0);
            done.await(1, Duration.ofSeconds(60));
            int[] result = new int[16];
            buffer.read(0, MemorySegment.ofArray(result));
            assertThat(result).containsOnly(9);
        }
        return library().calls("link_complete");
    }

    private List<Path> written() throws IOException {
        try (Stream<Path> found = Files.list(files)) {
            return found.toList();
        }
    }

    @Test
    void codeIsCompiledOnce() throws IOException {
        assertThat(run(files.toString())).isOne();
        assertThat(run(files.toString())).isZero();
        Path file = written().getFirst();
        assertThat(written()).hasSize(1);
        assertThat(file.getFileName().toString()).matches("cuda-[0-9a-f]{64}\\.cache");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        assertThat(library().calls("module_load")).isOne();
    }

    @Test
    void withoutACacheTheDriverHasItsOwn() throws IOException {
        assertThat(run("off")).isZero();
        assertThat(written()).isEmpty();
        assertThat(library().calls("module_load")).isOne();
    }

    /** The name has everything that the code depends on. */
    @Test
    void anotherDriverOrArchitectureHasOtherCode() throws IOException {
        run(files.toString());
        FakeGpu first = library();
        fake = GpuDrivers.fake(libraries, GpuKind.CUDA, "version=12050");
        assertThat(run(files.toString())).isOne();
        fake = GpuDrivers.fake(libraries, GpuKind.CUDA, "compute=9.0");
        assertThat(run(files.toString())).isOne();
        assertThat(written()).hasSize(3);
        assertThat(first.complaints()).isEmpty();
    }

    @Test
    void damagedFilesAreIgnoredAndWrittenAnew() throws IOException {
        run(files.toString());
        Path file = written().getFirst();
        byte[] good = Files.readAllBytes(file);
        byte[] flipped = good.clone();
        flipped[good.length - 1] ^= 1;
        byte[] begun = good.clone();
        begun[0] ^= 1;
        for (byte[] bytes : List.of(flipped, begun, Arrays.copyOf(good, good.length / 2), new byte[0])) {
            Files.write(file, bytes);
            assertThat(run(files.toString())).isOne();
            assertThat(file).hasBinaryContent(good);
        }
    }

    /** With a correct checksum: a truncated image is not given to the driver, and a refused image is compiled again. */
    @Test
    void codeRefusedByTheDriverIsCompiledAgain() throws IOException {
        run(files.toString());
        Path file = written().getFirst();
        byte[] good = Files.readAllBytes(file);
        fake.assertNothingToComplainOf();
        fake = GpuDrivers.fake(libraries, GpuKind.CUDA, "fail=module_load:1:209");
        assertThat(run(files.toString())).isOne();
        assertThat(file).hasBinaryContent(good);
    }

    @Test
    void linksAreNotFollowed() throws IOException {
        run(files.toString());
        Path file = written().getFirst();
        Path elsewhere = libraries.resolve("elsewhere");
        Files.move(file, elsewhere);
        byte[] good = Files.readAllBytes(elsewhere);
        Files.write(elsewhere, new byte[] {1});
        Files.createSymbolicLink(file, elsewhere);
        assertThat(run(files.toString())).isOne();
        assertThat(file).isRegularFile().hasBinaryContent(good);
        assertThat(Files.isSymbolicLink(file)).isFalse();
        assertThat(elsewhere).hasBinaryContent(new byte[] {1});
    }

    @Test
    void aDirectoryWritableByOthersIsNotUsed() throws IOException {
        Files.setPosixFilePermissions(files, PosixFilePermissions.fromString("rwxrwxrwx"));
        assertThat(run(files.toString())).isOne();
        assertThat(written()).singleElement().satisfies(own -> assertThat(own).isDirectory());
        assertThat(run(files.toString())).isZero(); // in a private directory inside
    }

    /** A driver without a compiler to keep compiles at the load. */
    @Test
    void withoutALinkerTheDriverCompiles() throws IOException {
        for (String settings : List.of("no_symbol=cuLinkCreate_v2", "fail=link_add:1:218", "fail=link_complete:1:2")) {
            fake.assertNothingToComplainOf();
            fake = GpuDrivers.fake(libraries, GpuKind.CUDA, settings);
            run(files.toString());
            assertThat(library().calls("module_load")).as(settings).isOne();
        }
        assertThat(written()).isEmpty();
    }

    @Test
    void theOldestFilesMakeRoom() throws IOException {
        try (StreamDevice device = device("off");
                Arena arena = Arena.ofConfined()) {
            GpuDevice handle = GpuDrivers.handle(device);
            GpuCodeCache cache = new GpuCodeCache(handle, files.toString(), "sm_80", 3000);
            for (int i = 0; i < 10; i++) {
                GpuImage image = GpuImage.of(
                        "module",
                        MemorySegment.ofArray(".version 6.3\n.target sm_75\n.address_size 64\n// %d %s\n"
                                .formatted(i, "x".repeat(500))
                                .getBytes(StandardCharsets.US_ASCII)));
                handle.unloadModule(cache.load(image, image.copy(arena), arena));
                Path newest = written().stream()
                        .max((one, other) -> Long.compare(
                                one.toFile().lastModified(), other.toFile().lastModified()))
                        .orElseThrow();
                for (Path file : written()) { // a second older than before
                    if (!file.equals(newest)) {
                        Files.setLastModifiedTime(
                                file, FileTime.fromMillis(file.toFile().lastModified() - 1000));
                    }
                }
            }
            long bytes =
                    written().stream().mapToLong(each -> each.toFile().length()).sum();
            assertThat(bytes).isBetween(1500L, 3000L);
        }
    }
}
