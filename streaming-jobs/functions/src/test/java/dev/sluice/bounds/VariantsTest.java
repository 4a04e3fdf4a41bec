package dev.sluice.bounds;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class VariantsTest {
  private static final Variants.Root ROOT = new Variants.Root("front", "GET /", 0);

  @Test
  void theFirstOfARootAndWindowAreToldApart() {
    Variants variants = new Variants(2);
    assertThat(variants.isSeparate(ROOT, "a")).isTrue();
    assertThat(variants.isSeparate(ROOT, "b")).isTrue();
    assertThat(variants.isSeparate(ROOT, "c")).isFalse();
    assertThat(variants.isSeparate(ROOT, "a")).isTrue();
    assertThat(variants.isSeparate(new Variants.Root("front", "GET /", 10_000), "c")).isTrue();
  }

  @Test
  void restoredItKnowsThem() {
    Variants before = new Variants(1);
    before.isSeparate(ROOT, "a");
    Variants variants = new Variants(1);
    variants.restore(before.snapshot());
    assertThat(variants.isSeparate(ROOT, "b")).isFalse();
    assertThat(variants.isSeparate(ROOT, "a")).isTrue();
  }

  @Test
  void ofSoManyRootsItIsRemembered() {
    Variants variants = new Variants(1);
    for (int window = 0; window <= Variants.ROOTS; window++) {
      variants.isSeparate(new Variants.Root("front", "GET /", window), "a");
    }
    assertThat(variants.isSeparate(new Variants.Root("front", "GET /", Variants.ROOTS), "b"))
        .isFalse();
    assertThat(variants.isSeparate(new Variants.Root("front", "GET /", 0), "b")).isTrue();
  }
}
