package io.github.iree4j.vm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CallingConventionTest {
    @ParameterizedTest
    @CsvSource({
        "'', '', ''",
        "0, '', ''",
        "0v, '', ''",
        "0v_v, '', ''",
        "0_v, '', ''",
        "0i_f, i, f",
        "0iIfFr_rFfIi, iIfFr, rFfIi",
        "0rIrrCiiD_r, rIrrCiiD, r",
        "0CrDCiID_v, CrDCiID, ''"
    })
    void textIsParsed(String text, String arguments, String results) {
        CallingConvention convention = CallingConvention.parse(text);
        assertThat(convention.arguments()).isEqualTo(arguments);
        assertThat(convention.results()).isEqualTo(results);
        assertThat(convention.isVariadic()).isEqualTo(arguments.contains("C"));
    }

    @ParameterizedTest
    @CsvSource({
        "0x_v, INVALID_ARGUMENT",
        "0iv_v, INVALID_ARGUMENT",
        "0Ci_v, INVALID_ARGUMENT",
        "0CD_v, INVALID_ARGUMENT",
        "0CCiDD_v, INVALID_ARGUMENT",
        "0D_v, INVALID_ARGUMENT",
        "0v_CiD, INVALID_ARGUMENT",
        "0i_i_i, INVALID_ARGUMENT",
        "1i_i, UNIMPLEMENTED",
        "i_i, UNIMPLEMENTED"
    })
    void malformedTextIsRejected(String text, String code) {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> CallingConvention.parse(text))
                .withMessageContaining("calling convention '" + text + "'")
                .matches(e -> e.code() == StatusCode.valueOf(code), code);
    }

    @Test
    void emptyHalvesMatchInAnySpelling() {
        assertThat(CallingConvention.parse("0v_v").matches(CallingConvention.parse("")))
                .isTrue();
        assertThat(CallingConvention.parse("0r").matches(CallingConvention.parse("0r_v")))
                .isTrue();
        assertThat(CallingConvention.parse("0r").matches(CallingConvention.parse("0v_r")))
                .isFalse();
    }
}
