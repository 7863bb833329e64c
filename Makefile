# SPDX-License-Identifier: GPL-2.0
#
#   make                  ./sojourn
#   make check-unit       build and run the unit tests
#   make test-programs    the programs that the tests in network namespaces use
#   make bench-programs   the same, and what tools/bench uses on top
#   make asan             build/asan/sojourn and the unit tests under ASAN and UBSAN
#   make fuzz             the fuzzing programs, with clang's libFuzzer, ASAN and UBSAN
#   make install DESTDIR= PREFIX=/usr/local
#   make clean
#
# BUILD=DIRECTORY builds there instead (the binary too); CC=clang works at any
# time: what was made with other flags is made again.

PREFIX ?= /usr/local
BUILD ?= build
CLANG ?= clang
PKG_CONFIG ?= pkg-config
BPFTOOL ?= $(shell PATH="$$PATH:/usr/sbin:/sbin" command -v bpftool || echo bpftool)
WERROR ?= -Werror
CFLAGS ?= -O2 -g

PACKAGES := libbpf libmnl libcjson libelf zlib inih libmicrohttpd
WARNINGS := -Wall -Wextra $(WERROR)
USER_CFLAGS := -std=gnu11 -D_GNU_SOURCE $(CFLAGS) $(WARNINGS) -Iinclude -Iuser -I$(BUILD) \
	$(shell $(PKG_CONFIG) --cflags $(PACKAGES))
USER_LIBS := $(shell $(PKG_CONFIG) --libs $(PACKAGES)) -lm
TEST_LIBS := -Wl,--as-needed -lcmocka -lpcap
# BPF_PROG() of libbpf gives every program parameters that it need not use.
# The processor names the registers that a kprobe is given.
BPF_TARGET := $(subst x86_64,x86,$(subst aarch64,arm64,$(shell uname -m)))
BPF_CFLAGS := -target bpf -D__TARGET_ARCH_$(BPF_TARGET) -O2 -g $(WARNINGS) -Wno-unused-parameter \
	-Ivmlinux -Iinclude -Ibpf

ifdef SANITIZE
USER_CFLAGS += -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer
USER_LDFLAGS := -fsanitize=$(SANITIZE)
endif

PROGRAM := $(if $(filter build,$(BUILD)),sojourn,$(BUILD)/sojourn)
SKELETONS := $(BUILD)/sojourn.skel.h $(BUILD)/sojourn_old.skel.h
LIBRARY := $(BUILD)/libsojourn.a

USER_SOURCES := $(wildcard user/*.c)
USER_OBJECTS := $(USER_SOURCES:user/%.c=$(BUILD)/user/%.o)
LIBRARY_OBJECTS := $(filter-out $(BUILD)/user/main.o,$(USER_OBJECTS))
SKELETON_SOURCES := $(shell grep -l "sojourn\.skel\.h" user/*.c)
UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/test_*.c))
TEST_PROGRAMS := $(patsubst tests/netns/%.c,$(BUILD)/tests/%,$(wildcard tests/netns/*.c))
FUZZ_PROGRAMS := $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(wildcard tests/fuzz/*.c))
BENCH_OBJECTS := $(patsubst tests/%.c,$(BUILD)/tests/%.o,$(wildcard tests/bench/*.bpf.c))
BENCH_SOURCES := $(filter-out %.bpf.c,$(wildcard tests/bench/*.c))
BENCH_PROGRAMS := $(BENCH_SOURCES:tests/bench/%.c=$(BUILD)/tests/%)

.PHONY: all check-unit unit-tests test-programs bench-programs fuzz-programs fuzz asan install \
	clean FORCE
.DELETE_ON_ERROR:
.SECONDARY:

all: $(PROGRAM)

$(PROGRAM): $(BUILD)/user/main.o $(LIBRARY)
	$(CC) $(USER_CFLAGS) $(USER_LDFLAGS) $(LDFLAGS) -o $@ $^ $(USER_LIBS)

# Made anew each time, so that an object whose source is gone leaves it.
$(LIBRARY): $(LIBRARY_OBJECTS)
	rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/user/%.o: user/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(USER_CFLAGS) -MMD -MP -c -o $@ $<

# What these hold as it is, of other files.
$(BUILD)/user/suite_files.o: $(wildcard user/suites/*.suite)
$(BUILD)/user/report_page.o: $(BUILD)/report/head.html
$(BUILD)/user/report_page.o: USER_CFLAGS += -DREPORT_PAGE='"$(BUILD)/report"'

# Empty where npm cannot fetch uPlot: then there is no HTML report, and the next make tries again.
PAGE_IS_THERE := $(shell test -s $(BUILD)/report/head.html && echo yes)
$(BUILD)/report/head.html: $(wildcard user/report/*) tools/make-report-page \
		$(if $(PAGE_IS_THERE),,FORCE)
	tools/make-report-page $(BUILD)

# The dependency files tell who includes the skeleton only after the first build.
$(patsubst %.c,$(BUILD)/%.o,$(SKELETON_SOURCES)): | $(SKELETONS)
$(BUILD)/tests/hook_function.o: | $(SKELETONS)

# One source, two objects: the second for kernels before 5.17 (bpf/kernel.bpf.h).
$(BUILD)/sojourn.bpf.o: BPF_VARIANT := -mcpu=v3
$(BUILD)/sojourn_old.bpf.o: BPF_VARIANT := -mcpu=v2 -DBEFORE_5_17

$(BUILD)/sojourn.bpf.o $(BUILD)/sojourn_old.bpf.o: bpf/sojourn.bpf.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) $(BPF_VARIANT) -MMD -MP -MT $@ -MF $(@:.o=.d) -c -o $@.full $<
	$(BPFTOOL) gen object $@ $@.full

# Into a file of another name first: a failed bpftool leaves no half header.
$(BUILD)/%.skel.h: $(BUILD)/%.bpf.o
	$(BPFTOOL) gen skeleton $< name $(*F)_bpf > $@.new
	mv $@.new $@

$(BUILD)/tests/%.o: tests/unit/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(USER_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/tests/%.o: tests/netns/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(USER_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/tests/%.o: tests/bench/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(USER_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/tests/bench/%.bpf.o: tests/bench/%.bpf.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -mcpu=v3 -MMD -MP -c -o $@ $<

$(BUILD)/tests/%: $(BUILD)/tests/%.o $(LIBRARY)
	$(CC) $(USER_CFLAGS) $(USER_LDFLAGS) $(LDFLAGS) -o $@ $^ $(USER_LIBS) $(TEST_LIBS)

unit-tests: $(UNIT_TESTS)

test-programs: $(TEST_PROGRAMS)

bench-programs: test-programs $(BENCH_PROGRAMS) $(BENCH_OBJECTS)

check-unit: $(UNIT_TESTS)
	@status=0; for test in $(UNIT_TESTS); do \
		echo "$$test"; $$test || status=1; \
	done; exit $$status

# Whatever they link has to be built for them: fuzz does.
$(BUILD)/fuzz/%: tests/fuzz/%.c $(LIBRARY) $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(USER_CFLAGS) $(USER_LDFLAGS) -fsanitize=fuzzer -o $@ $< $(LIBRARY) $(USER_LIBS)

fuzz-programs: $(FUZZ_PROGRAMS)

fuzz:
	$(MAKE) BUILD=build/fuzz CC=$(CLANG) SANITIZE=fuzzer-no-link,address,undefined \
		CFLAGS='-O1 -g' fuzz-programs

asan:
	$(MAKE) BUILD=build/asan SANITIZE=address,undefined CFLAGS='-O1 -g' all check-unit

# Changes only when the compiler or its flags do; every object depends on it.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CC) $(USER_CFLAGS) $(CLANG) $(BPF_CFLAGS)' > $@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

install: $(PROGRAM)
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/doc/sojourn/docs \
		$(DESTDIR)$(PREFIX)/lib/systemd/system $(DESTDIR)$(PREFIX)/share/sojourn
	install -m 755 $(PROGRAM) $(DESTDIR)$(PREFIX)/bin/sojourn
	install -m 644 README.md COPYING $(DESTDIR)$(PREFIX)/share/doc/sojourn
	install -m 644 $(wildcard docs/*.md docs/*.png) $(DESTDIR)$(PREFIX)/share/doc/sojourn/docs
	sed 's|/usr/local|$(PREFIX)|' deploy/systemd/sojourn-export.service \
		> $(DESTDIR)$(PREFIX)/lib/systemd/system/sojourn-export.service
	cp -R deploy/. $(DESTDIR)$(PREFIX)/share/sojourn

clean:
	rm -rf build sojourn

-include $(wildcard $(BUILD)/*.d $(BUILD)/user/*.d $(BUILD)/tests/*.d $(BUILD)/tests/bench/*.d)
