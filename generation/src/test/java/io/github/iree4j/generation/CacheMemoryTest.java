package io.github.iree4j.generation;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Program;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.BufferView;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The cache of a compiled decoder, in memory that held other bytes before. */
@Timeout(60)
class CacheMemoryTest {
    private static final int PAGES = 12;

    private IreeRuntime runtime;
    private Program program;
    private ModelInterface model;

    @BeforeEach
    void load() {
        runtime = IreeRuntime.create();
        program = GeneratorTest.load(runtime, GeneratorTest.DECODER);
        ModelConfig config = ModelConfig.parse(
                        GeneratorTest.DECODER, ModelConfig.text(GeneratorTest.config(GeneratorTest.DECODER)))
                .withPages(PAGES);
        model = ModelInterface.of(program, config);
    }

    @AfterEach
    void close() {
        program.close();
        runtime.close();
    }

    /** Returns the bytes of a buffer. */
    private static byte[] bytes(Buffer buffer, long offset, long length) {
        byte[] bytes = new byte[Math.toIntExact(length)];
        buffer.read(offset, MemorySegment.ofArray(bytes));
        return bytes;
    }

    /** Fills a buffer with bytes of floats that are no numbers. */
    private static void soil(Buffer buffer) {
        byte[] bytes = new byte[Math.toIntExact(buffer.length())];
        Arrays.fill(bytes, (byte) -1);
        buffer.write(0, MemorySegment.ofArray(bytes));
    }

    @Test
    void aNewCacheIsZeroInMemoryWithOtherBytesBefore() {
        long size = model.caches().getFirst().pageBytes() * PAGES;
        try (CacheMemory first = new CacheMemory(model, PAGES, 0)) {
            first.arguments().forEach(each -> soil(each.buffer()));
        }
        Buffer reused = program.devices().getFirst().allocator().allocate(BufferParams.DEFAULT, size);
        assertThat(bytes(reused, 0, size)).as("memory used again").doesNotContain((byte) 0);
        reused.release();
        try (CacheMemory second = new CacheMemory(model, PAGES, 0)) {
            for (BufferView each : second.arguments()) {
                assertThat(bytes(each.buffer(), 0, size)).containsOnly(0);
            }
        }
    }

    @Test
    void aScrubbedPageIsZeroAndItsNeighboursAreAsBefore() {
        long size = model.caches().getFirst().pageBytes();
        try (CacheMemory memory = new CacheMemory(model, PAGES, 0)) {
            memory.arguments().forEach(each -> soil(each.buffer()));
            memory.scrub(3);
            for (BufferView each : memory.arguments()) {
                for (int page = 0; page < PAGES; page++) {
                    assertThat(bytes(each.buffer(), page * size, size))
                            .as("page %d", page)
                            .containsOnly(page == 3 ? 0 : -1);
                }
            }
        }
    }
}
