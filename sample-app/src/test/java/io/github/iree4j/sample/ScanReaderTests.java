package io.github.iree4j.sample;

import static io.github.iree4j.spring.test.IreeAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.Tensor;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.spring.test.FakePrograms;
import io.github.iree4j.spring.test.IreeTest;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Import;

/** The pipeline without the models: the calls, their order, and failures. */
@IreeTest
@Import(ScanReader.class)
class ScanReaderTests {

    @Autowired
    private FakePrograms programs;

    @Autowired
    private IreeRuntime runtime;

    @Autowired
    private ScanReader reader;

    @BeforeEach
    void script() {
        programs.program(
                "scans",
                scans -> scans.function("blocks", "(tensor<?x1024xf32>) -> tensor<?x64xf32>")
                        .takes(Duration.ofMillis(2))
                        .returns(Tensor.zeros(ElementType.F32, 1, 64)));
        programs.program(
                "digits",
                digits -> digits.function("classify", "(tensor<?x64xf32>) -> tensor<?x10xf32>")
                        .takes(Duration.ofMillis(3))
                        .returns(Tensor.of(new float[] {0, 0, 0, 1, 0, 0, 0, 0, 0, 0}, 1, 10)));
    }

    @AfterEach
    void nothingIsLeft() {
        assertThat(runtime).hasNoOpenTensors();
        programs.reset();
    }

    private float[][] read() {
        return reader.read(Tensor.zeros(ElementType.F32, 1, 1024));
    }

    @Test
    void picturesAreReadOnceReady() {
        assertThat(read()[0][3]).isEqualTo(1);
        assertThat(programs)
                .wereCalled("scans.blocks", "digits.classify")
                .ranOneAfterTheOther("scans.blocks", "digits.classify");
        assertThat(programs.now()).isEqualTo(Duration.ofMillis(5));
    }

    @Test
    void failedPictureIsNotRead() {
        programs.program(
                "scans",
                scans -> scans.function("blocks", "(tensor<?x1024xf32>) -> tensor<?x64xf32>")
                        .fails(StatusCode.DATA_LOSS, "torn page"));
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(this::read)
                .withMessageContaining("torn page")
                .extracting(IreeException::code)
                .isEqualTo(StatusCode.DATA_LOSS);
        assertThat(programs).wereCalled("scans.blocks");
    }
}
