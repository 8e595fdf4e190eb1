package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Fence;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferParams;
import io.github.iree4j.hal.Device;
import io.github.iree4j.hal.Shape;
import io.github.iree4j.hal.vulkan.VulkanOfProcess;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A program compiled in 2023 for Vulkan: three filters of images with four bytes a pixel. The shader adds each byte to
 * itself; the third filter returns three boxes of sixteen numbers too, which are constants. All are asynchronous, with
 * a fence to wait for and a fence to signal. The reference is {@link #filtered}, in Java.
 */
@Tag("long")
class FiltersVulkan2023Test {
    private static final int IMAGES = Effort.rounds(60, 2_000);

    /**
     * The answer of {@code filter_bboxes} for every image: the number, box, colour and the rest of a row, from the
     * program's constants.
     */
    private static final int[][] BOXES = {
        {1000, 100, 101, 102, 20, 40, 50, 60, 255, 255, 0, 0, 0, 0, 0, 0},
        {2000, 200, 201, 202, 200, 240, 350, 460, 255, 0, 0, 255, 0, 0, 0, 0},
        {3000, 300, 301, 302, 100, 340, 250, 360, 128, 255, 255, 255, 0, 0, 0, 0},
    };

    private static IreeRuntime runtime;
    private static Program program;

    @BeforeAll
    static void load() {
        VulkanOfProcess.assume();
        runtime = IreeRuntime.builder().device("vulkan").build();
        program = runtime.load(Fixtures.file("20231004.665/vulkan-async/filters.vmfb"));
    }

    @AfterAll
    static void close() {
        if (program != null) {
            program.close();
        }
        if (runtime != null) {
            Device device = runtime.device();
            runtime.close();
            assertThat(device.allocator().statistics().bytesLive()).isZero();
            VulkanOfProcess.assertNothingToComplainOf();
        }
    }

    private record Image(byte[] pixels, int height, int width) {
        static Image random(Random random) {
            // Widths off the multiples of a workgroup, images of a single pixel, and no image.
            int height = random.nextInt(8) == 0 ? random.nextInt(2) : 1 + random.nextInt(70);
            int width = random.nextInt(8) == 0 ? random.nextInt(2) : 1 + random.nextInt(90);
            byte[] pixels = new byte[height * width * 4];
            random.nextBytes(pixels);
            return new Image(pixels, height, width);
        }

        Tensor tensor() {
            return Tensor.of(pixels, height, width, 4);
        }
    }

    /** The computation of the shader. */
    private static byte[] filtered(Image image) {
        byte[] out = new byte[image.pixels.length];
        for (int i = 0; i < out.length; i++) {
            out[i] = (byte) (image.pixels[i] + image.pixels[i]);
        }
        return out;
    }

    private static void assertFiltered(Results results, Image image, long seed) {
        assertThat(results.tensor(0).shape()).as("seed %d", seed).isEqualTo(Shape.of(image.height, image.width, 4));
        assertThat(results.tensor(0).toByteArray())
                .as("seed %d, %d x %d", seed, image.height, image.width)
                .isEqualTo(filtered(image));
    }

    private static void assertBoxes(Tensor boxes) {
        assertThat(boxes.shape()).isEqualTo(Shape.of(3, 16));
        int[] flat = boxes.toIntArray();
        for (int row = 0; row < 3; row++) {
            for (int column = 0; column < 16; column++) {
                assertThat(flat[row * 16 + column]).isEqualTo(BOXES[row][column]);
            }
        }
    }

    @Test
    void filterAddDoublesEachByteOfImagesOfAnySize() {
        ProgramFunction filter = program.function("filter_add");
        assertThat(filter.isAsynchronous()).isTrue();
        long first = Effort.seed(FiltersVulkan2023Test.class, IMAGES + " images", 20261120);
        for (long seed = first; seed < first + IMAGES; seed++) {
            Image image = Image.random(new Random(seed));
            try (Tensor input = image.tensor();
                    Results results = filter.invoke(input)) {
                assertFiltered(results, image, seed);
                assertThat(input.toByteArray()).as("the input stays").isEqualTo(image.pixels);
            }
        }
    }

    /** The compiler of 2023 accepted the storage without using it: the result is elsewhere, and correct. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void filterAddInplaceDoublesEachByteWithOrWithoutStorageForTheResult(boolean given) {
        ProgramFunction filter = program.function("filter_add_inplace");
        long first = Effort.seed(20261121);
        for (long seed = first; seed < first + IMAGES; seed++) {
            Image image = Image.random(new Random(seed));
            Buffer storage = given && image.pixels.length > 0
                    ? runtime.device().allocator().allocate(BufferParams.DEFAULT, image.pixels.length)
                    : null;
            try (Tensor input = image.tensor();
                    Results results = filter.invoke(input, storage)) {
                assertFiltered(results, image, seed);
            } finally {
                if (storage != null) {
                    storage.close();
                }
            }
        }
    }

    @Test
    void filterBboxesReturnsTheImageAndTheBoxesOfTheProgram() {
        ProgramFunction filter = program.function("filter_bboxes");
        long first = Effort.seed(20261122);
        for (long seed = first; seed < first + IMAGES; seed++) {
            Image image = Image.random(new Random(seed));
            try (Tensor input = image.tensor();
                    Results results = filter.invoke(input)) {
                assertFiltered(results, image, seed);
                assertBoxes(results.tensor(1));
            }
        }
    }

    /** All are submitted before the first fence is reached; no result begins before its own storage. */
    @Test
    void callsWaitForAndSignalFences() throws Exception {
        ProgramFunction filter = program.function("filter_add");
        Image image = Image.random(new Random(7));
        try (TimelineSemaphore timeline = runtime.device().createSemaphore(0, Device.SEMAPHORE_DEFAULT);
                Tensor input = image.tensor()) {
            List<CompletableFuture<Results>> calls = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                try (Fence wait = Fence.at(timeline, 2 * i + 1);
                        Fence signal = Fence.at(timeline, 2 * i + 2)) {
                    calls.add(filter.call(CallOptions.DEFAULTS.after(wait).signal(signal), input));
                }
            }
            assertThat(timeline.value()).isZero();
            for (int i = 0; i < 8; i++) {
                timeline.signal(2 * i + 1);
                timeline.await(2 * i + 2);
            }
            for (CompletableFuture<Results> call : calls) {
                try (Results results = call.get(60, TimeUnit.SECONDS)) {
                    assertFiltered(results, image, 7);
                }
            }
        }
    }

    @Test
    void manyCallsAtOnceDoNotMix() throws Exception {
        List<Image> images = new ArrayList<>();
        List<Tensor> inputs = new ArrayList<>();
        List<CompletableFuture<Results>> calls = new ArrayList<>();
        long first = Effort.seed(20261123);
        String[] filters = {"filter_add", "filter_bboxes"};
        for (int i = 0; i < 64; i++) {
            Image image = Image.random(new Random(first + i));
            images.add(image);
            inputs.add(image.tensor());
            calls.add(program.function(filters[i % 2]).invokeAsync(inputs.get(i)));
        }
        for (int i = 0; i < calls.size(); i++) {
            try (Results results = calls.get(i).get(60, TimeUnit.SECONDS)) {
                assertFiltered(results, images.get(i), first + i);
                if (i % 2 == 1) {
                    assertBoxes(results.tensor(1));
                }
            }
        }
        inputs.forEach(Tensor::close);
    }
}
