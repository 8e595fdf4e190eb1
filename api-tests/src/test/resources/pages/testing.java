package demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.test.AutoConfigureIree;
import io.github.iree4j.spring.test.IreeTest;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;

// fence 3
