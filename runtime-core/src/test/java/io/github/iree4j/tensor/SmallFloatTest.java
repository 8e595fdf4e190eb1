package io.github.iree4j.tensor;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class SmallFloatTest {
    /** Values from the formats' definitions and from IREE's math_test.cc. */
    @ParameterizedTest
    @CsvSource({
        "F8E5M2,     0.25,      0x34",
        "F8E5M2,     -100.375,  0xD6",
        "F8E5M2,     57344,     0x7B",
        "F8E5M2,     61439,     0x7B",
        "F8E5M2,     61440,     0x7C",
        "F8E5M2,     -61440,    0xFC",
        "F8E5M2,     Infinity,  0x7C",
        "F8E5M2,     3.0517578e-5, 0x02",
        "F8E4M3FN,   -100.375,  0xED",
        "F8E4M3FN,   448,       0x7E",
        "F8E4M3FN,   464,       0x7E",
        "F8E4M3FN,   465,       0x7F",
        "F8E4M3FN,   -Infinity, 0xFF",
        "F8E4M3FN,   272,       0x78",
        "F8E4M3FN,   304,       0x7A",
        "F8E4M3FN,   0.0009765625, 0x00",
        "F8E4M3FN,   0.0048828125, 0x02",
        "F8E5M2FNUZ, 1,         0x40",
        "F8E5M2FNUZ, -0.0,      0x00",
        "F8E5M2FNUZ, Infinity,  0x80",
        "F8E5M2FNUZ, 57344,     0x7F",
        "F8E5M2FNUZ, NaN,       0x80",
        "F8E4M3FNUZ, 1,         0x40",
        "F8E4M3FNUZ, 240,       0x7F",
        "F8E4M3FNUZ, 248,       0x80",
        "F8E8M0FNU,  1,         0x7F",
        "F8E8M0FNU,  1.4,       0x7F",
        "F8E8M0FNU,  1.5,       0x80",
        "F8E8M0FNU,  -3,        0x00",
        "F8E8M0FNU,  NaN,       0xFF",
        "F8E8M0FNU,  Infinity,  0xFF"
    })
    void encodes(SmallFloat format, float value, String code) {
        assertThat(Integer.toHexString(format.encode(value))).isEqualTo(Integer.toHexString(Integer.decode(code)));
    }

    @ParameterizedTest
    @EnumSource
    void everyCodeSurvivesDecodingAndEncoding(SmallFloat format) {
        for (int code = 0; code < 256; code++) {
            float value = format.decode(code);
            if (Float.isNaN(value)) {
                assertThat(format.decode(format.encode(value))).isNaN();
            } else {
                assertThat(format.encode(value)).as("%s of 0x%x", value, code).isEqualTo(code);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void everyFloatGoesToTheNearestValue(SmallFloat format) {
        for (int code = 0; code < 127; code++) {
            float low = format.decode(code);
            float high = format.decode(code + 1);
            if (high > low && !Float.isInfinite(high)) {
                float quarter = low + (high - low) / 4;
                float threeQuarters = low + (high - low) * 3 / 4;
                assertThat(format.decode(format.encode(quarter))).isEqualTo(low);
                assertThat(format.decode(format.encode(threeQuarters))).isEqualTo(high);
            }
        }
    }
}
