/* unit/test_report_shapes.c - the tree, the table and the stacks of the report as text. */
#include "report_bench.h"

static void the_tree_shows_each_branch_with_its_share(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init_solver(&f);
    struct tide_text text = {0};
    const struct tide_style style = {.width = 100, .utf8 = true};
    struct tide_page page = {.out = &text, .style = &style};
    fixture_rows(&f, TIDE_METRIC_PEAK);
    tide_view_tree(&page, &f.model, &f.rows, 16);
    assert_holds(&text, "At the peak  683 MiB in 47,417 blocks, at 7.312 s\n");
    assert_holds(
        &text,
        "   675 MiB   98.8 %  47,408  main › Simulation::run  simulation.cpp:88\n"
        "   592 MiB   86.6 %   6,031  ├─ Simulation::step  simulation.cpp:141\n"
        "   530 MiB   77.6 %   1,235  │  ├─ Assembler::assemble  ");
    assert_holds(&text, "   412 MiB   60.3 %   1,204  │  │  ├─ "
                        "SparseMatrix<double, int>::reserve(…)  sparse_matrix.h:44\n");
    assert_holds(&text, "   118 MiB   17.3 %      31  │  │  └─ "
                        "std::vector<…>::_M_realloc_insert<…>  vector.tcc:439\n");
    assert_holds(&text, "  8.00 MiB    1.2 %       8  Pool::worker › Pool::scratch  "
                        "pool.cpp:23\n");
    tide_text_release(&text);
    fixture_release(&f);
}

static void a_line_of_the_tree_tells_of_others(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init_solver(&f);
    fixture_rows(&f, TIDE_METRIC_PEAK);
    for (size_t i = 0; i < f.rows.tree_count; i++)
        f.rows.tree[i].lines = 3;
    static const struct tide_style wide = {.width = 100, .utf8 = true};
    struct tide_text text = {0};
    struct tide_page page = {.out = &text, .style = &wide};
    tide_view_tree(&page, &f.model, &f.rows, 16);
    assert_holds(&text,
                 "Pool::worker › Pool::scratch  pool.cpp:23 and 2 other lines\n");
    assert_holds(&text, "main › Simulation::run  simulation.cpp:88\n"); /* below it */
    tide_text_clear(&text);
    static const struct tide_style narrow = {.width = 60, .utf8 = true};
    page.style = &narrow;
    tide_view_tree(&page, &f.model, &f.rows, 16);
    assert_holds(&text, "pool.cpp:23, …\n");
    assert_width(&text, &narrow);
    tide_text_release(&text);
    fixture_release(&f);
}

static void a_chain_of_hundreds_of_calls_is_shown_by_its_ends(void **state)
{
    (void)state;
    struct tide_text path = {0};
    tide_text_add(&path, "main");
    for (int i = 0; i < 400; i++)
        tide_text_addf(&path, i % 2 ? ";std::f%d" : ";f%d", i);
    struct fixture f;
    fixture_init(&f);
    fixture_add(&f, &(struct fixture_site){path.bytes, 1, 10, 1, 10, 1, 10, 0, 0});
    tide_text_release(&path);
    fixture_rows(&f, TIDE_METRIC_PEAK);
    for (size_t limit = 0; limit < 10; limit += 9) { /* 0: all */
        struct tide_text text = {0};
        struct tide_page page = {.out = &text, .style = &PLAIN};
        tide_view_tree(&page, &f.model, &f.rows, limit);
        assert_holds(&text, "  main > ... > ");
        assert_holds(&text, "> std::f399\n");
        assert_width(&text, &PLAIN);
        tide_text_release(&text);
    }
    fixture_release(&f);
}

/* PATH, whose only site it is, as LINE of the tree; LIMIT 0 folds nothing. */
static void assert_chain(const char *path, size_t limit, const char *line)
{
    struct fixture f;
    fixture_init(&f);
    fixture_add(&f, &(struct fixture_site){path, 1, 10, 1, 10, 1, 10, 0, 0});
    struct tide_text text = {0};
    const struct tide_style style = {.width = 100, .utf8 = true};
    struct tide_page page = {.out = &text, .style = &style};
    fixture_rows(&f, TIDE_METRIC_PEAK);
    tide_view_tree(&page, &f.model, &f.rows, limit);
    assert_holds(&text, line);
    tide_text_release(&text);
    fixture_release(&f);
}

static void recursion_is_said_once(void **state)
{
    (void)state;
    assert_chain("main;f;f;f@f.c:3", 9, "  main › f ×3  f.c:3\n");
    assert_chain("main;f;f;g@f.c:3", 9, "  main › f ×2 › g  f.c:3\n");
    assert_chain("main;f;f;g@f.c:3", 0, "  main › f › f › g  f.c:3\n");
    assert_chain("f;f", 9, "  f ×2\n");
    assert_chain("main;a;b;a;b;a;b;c", 9, "  main › (a › b) ×3 › c\n");
    assert_chain("main;a;b;c;a;b;c;d", 9, "  main › (a › b › c) ×2 › d\n");
    assert_chain("main;a;b;a;b", 9, "  main › a › b › a › b\n");
    assert_chain("main;a;b;a;c", 9, "  main › a › b › a › c\n");
}

static void functions_without_names_are_one_step(void **state)
{
    (void)state;
    assert_chain("main;a.out+0x1;a.out+0x2;a.out+0x3;f", 9,
                 "  main › a.out (3 unnamed) › f\n");
    assert_chain("a.out+0x1;a.out+0x2;f;a.out+0x3;a.out+0x1;g", 9,
                 "  a.out (2 unnamed) › f › a.out (2 unnamed) › g\n");
    /* One alone says more by itself, and so does the last, where it allocates. */
    assert_chain("main;a.out+0x1;f", 9, "  main › a.out+0x1 › f\n");
    assert_chain("main;a.out+0x1;a.out+0x2;a.out+0x3", 9,
                 "  main › a.out (2 unnamed) › a.out+0x3\n");
    assert_chain("main;a.out+0x1;a.out+0x2;f", 0,
                 "  main › a.out+0x1 › a.out+0x2 › f\n");
    assert_chain("a.out+0x1;f;a.out+0x1;a.out+0x1", 9,
                 "  a.out+0x1 › f › a.out+0x1 ×2\n");
}

/* A cycle that does not fit is left out as a whole. */
static void no_bracket_of_recursion_stands_alone(void **state)
{
    (void)state;
    struct tide_text path = {0};
    tide_text_add(&path, "main");
    for (int i = 0; i < 20; i++)
        tide_text_addf(&path, ";a_function_with_a_long_name_%d;%s", i,
                       i == 17 ? "x_is_a_long_name_too;y;x_is_a_long_name_too;y" : "z");
    struct fixture f;
    fixture_init(&f);
    fixture_add(&f, &(struct fixture_site){path.bytes, 1, 10, 1, 10, 1, 10, 0, 0});
    fixture_rows(&f, TIDE_METRIC_PEAK);
    for (int width = 60; width < 400; width++) {
        const struct tide_style style = {.width = width};
        struct tide_text text = {0};
        struct tide_page page = {.out = &text, .style = &style};
        tide_view_tree(&page, &f.model, &f.rows, 9);
        assert_int_equal(strstr(text.bytes, "(x") != NULL,
                         strstr(text.bytes, ") x2") != NULL);
        assert_width(&text, &style);
        tide_text_release(&text);
    }
    tide_text_release(&path);
    fixture_release(&f);
}

static void the_flat_table_shows_self_and_inclusive(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init_solver(&f);
    struct tide_text text = {0};
    struct tide_page page = {.out = &text, .style = &PLAIN};
    fixture_rows(&f, TIDE_METRIC_PEAK);
    tide_view_flat(&page, &f.model, &f.rows, 6);
    assert_holds(&text, "       self    share  inclusive  blocks  function");
    assert_holds(&text, "    412 MiB   60.3 %    412 MiB   1,204  SparseMatrix<");
    assert_holds(&text, "   79.0 MiB   11.6 %   79.0 MiB       6  xrealloc  util.c:31");
    assert_holds(&text, "  solver\n"); /* the module */
    assert_holds(&text, "... 21 more functions\n");
    tide_text_clear(&text);
    tide_view_flat(&page, &f.model, &f.rows, 25);
    assert_holds(&text, "... 2 more functions\n");
    tide_text_clear(&text);
    tide_view_flat(&page, &f.model, &f.rows, 26);
    assert_null(strstr(text.bytes, " more ")); /* it would take as much room */
    assert_holds(&text, "        0 B    0.0 %    675 MiB       0  main ");
    tide_text_clear(&text);
    const struct tide_style wide = {.width = 240};
    page.style = &wide;
    tide_view_flat(&page, &f.model, &f.rows, 6);
    const char *const head = strstr(text.bytes, "function  ");
    assert_non_null(head);
    assert_in_range(strstr(head, "module") - head, 10, 102); /* not at the far right */
    tide_text_clear(&text);
    const struct tide_style narrow = {.width = 80};
    page.style = &narrow;
    tide_view_flat(&page, &f.model, &f.rows, 6);
    assert_holds(&text, " :44 "); /* the file has no room, the line has */
    tide_text_release(&text);
    fixture_release(&f);
}

static void the_stacks_show_callers_below_callees(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init_solver(&f);
    struct tide_text text = {0};
    struct tide_page page = {.out = &text, .style = &PLAIN};
    fixture_rows(&f, TIDE_METRIC_LEAKS);
    tide_view_stacks(&page, &f.model, &f.rows, 2);
    assert_holds(&text,
                 "  2.00 MiB   27.9 %       1  xrealloc  util.c:31\n"
                 "                             <- Mesh::parse_nodes  mesh.cpp:133\n"
                 "                             <- Mesh::load  mesh.cpp:61\n"
                 "                             <- Simulation::run  simulation.cpp:88\n"
                 "                             <- main  solver.cpp:212\n");
    /* 900 KiB + 210 KiB + 72,704 + 3 KiB in 1,200 + 60 + 1 + 12 blocks */
    assert_holds(&text, "  1.16 MiB   16.2 %   1,273  ... 4 more stacks\n");
    tide_text_release(&text);
    fixture_release(&f);
}

/* Without lines a function that calls another from two places has two equal stacks. */
static void stacks_that_read_the_same_are_one_row(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    fixture_add(&f, &(struct fixture_site){"main;f;g", 1, 30, 1, 30, 1, 30, 0, 0});
    fixture_add(&f, &(struct fixture_site){"main;g", 1, 40, 1, 40, 1, 40, 0, 0});
    fixture_add(&f, &(struct fixture_site){"main;f;g", 2, 20, 2, 20, 2, 20, 0, 0});
    fixture_add(&f, &(struct fixture_site){"main@m.c:3;g", 1, 7, 1, 7, 1, 7, 0, 0});
    struct tide_text text = {0};
    struct tide_page page = {.out = &text, .style = &PLAIN};
    fixture_rows(&f, TIDE_METRIC_LEAKS);
    tide_view_stacks(&page, &f.model, &f.rows, 2);
    assert_holds(&text, "      50 B   51.5 %       3  g\n"
                        "                             <- f\n"
                        "                             <- main\n"
                        "      40 B   41.2 %       1  g\n"
                        "                             <- main\n"
                        "       7 B    7.2 %       1  ... 1 more stack\n");
    tide_text_release(&text);
    fixture_release(&f);
}

/* Every file of a Python program may have a function of one name at one line. */
static void stacks_through_two_files_are_two_rows(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    fixture_add(&f, &(struct fixture_site){"main;f@a.c:12", 1, 40, 1, 40, 1, 40, 0, 0});
    fixture_add(&f, &(struct fixture_site){"main;f@b.c:12", 1, 30, 1, 30, 1, 30, 0, 0});
    struct tide_text text = {0};
    struct tide_page page = {.out = &text, .style = &PLAIN};
    fixture_rows(&f, TIDE_METRIC_LEAKS);
    tide_view_stacks(&page, &f.model, &f.rows, 10);
    assert_holds(&text, "40 B   57.1 %       1  f  a.c:12\n");
    assert_holds(&text, "30 B   42.9 %       1  f  b.c:12\n");
    tide_text_release(&text);
    fixture_release(&f);
}

static void a_deep_stack_is_cut_with_dots(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    fixture_add(&f,
                &(struct fixture_site){"main;b;c;d;e;f;g", 1, 10, 1, 10, 1, 10, 0, 0});
    struct tide_text text = {0};
    struct tide_page page = {.out = &text, .style = &PLAIN};
    fixture_rows(&f, TIDE_METRIC_LEAKS);
    tide_view_stacks(&page, &f.model, &f.rows, 5);
    assert_holds(&text, "  g\n");
    assert_holds(&text, "<- c\n");
    assert_holds(&text, "<- ... 2 more\n");
    assert_null(strstr(text.bytes, "<- b\n"));
    fixture_release(&f);
    tide_text_clear(&text);
    fixture_init(&f);
    fixture_add(&f,
                &(struct fixture_site){"main;b;c;d;e;f", 1, 10, 1, 10, 1, 10, 0, 0});
    fixture_rows(&f, TIDE_METRIC_LEAKS);
    tide_view_stacks(&page, &f.model, &f.rows, 5);
    assert_holds(&text, "<- main\n"); /* "1 more" would take as much room */
    assert_null(strstr(text.bytes, "more"));
    tide_text_release(&text);
    fixture_release(&f);
}

/* PATH, whose only site it is, as LINES of the stacks; LIMIT 0 folds nothing. */
static void assert_stack(const char *path, size_t limit, const char *lines)
{
    struct fixture f;
    fixture_init(&f);
    fixture_add(&f, &(struct fixture_site){path, 1, 10, 1, 10, 1, 10, 0, 0});
    struct tide_text text = {0};
    struct tide_page page = {.out = &text, .style = &PLAIN};
    fixture_rows(&f, TIDE_METRIC_LEAKS);
    tide_view_stacks(&page, &f.model, &f.rows, limit);
    assert_holds(&text, lines);
    tide_text_release(&text);
    fixture_release(&f);
}

static void recursion_takes_one_line_of_a_stack(void **state)
{
    (void)state;
    static const char DEEP[] = "main@a.c:9;f@a.c:2;f@a.c:2;f@a.c:2;f@a.c:1";
    assert_stack(DEEP, 5,
                 "  f  a.c:1\n"
                 "                             <- f x3  a.c:2\n"
                 "                             <- main  a.c:9\n");
    assert_stack(DEEP, 0, "<- f  a.c:2\n                             <- f  a.c:2\n");
    assert_stack("main;f@a.c:2;f@a.c:3;f@a.c:1", 5, "<- f x2  a.c\n");
    assert_stack("main;f@a.c:2;f@b.c:2;f@a.c:1", 5, "<- f x2\n");
    assert_stack("main;f;g;f;g;f;g;x", 5,
                 "  x\n"
                 "                             <- g\n"
                 "                             <- f\n"
                 "                             <- ... these 2 calls 2 times more\n"
                 "                             <- main\n");
    /* More functions than are shown. */
    assert_stack("main;a;b;c;d;e;a;b;c;d;e;x", 5,
                 "<- b\n                             <- ... 7 more\n");
}

static void the_inside_of_the_library_is_left_out(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f);
    fixture_add(&f,
                &(struct fixture_site){
                    "main;fill;std::map<int, int>::operator[](int);std::_Rb_tree<int>::"
                    "_M_get_node();void std::allocate<int>();std::__new<int>@new.h:9",
                    1, 10, 1, 10, 1, 10, 0, 0});
    struct tide_text text = {0};
    const struct tide_style style = {.width = 160};
    struct tide_page page = {.out = &text, .style = &style};
    fixture_rows(&f, TIDE_METRIC_PEAK);
    tide_view_tree(&page, &f.model, &f.rows, 9);
    assert_holds(&text, "  main > fill > std::map<...>::operator[] > ... > "
                        "std::__new<int>  new.h:9\n");
    tide_view_tree(&page, &f.model, &f.rows, 0); /* all */
    assert_holds(&text, "> std::_Rb_tree<...>::_M_get_node > std::allocate<...> > ");
    tide_text_clear(&text);
    tide_view_stacks(&page, &f.model, &f.rows, 9);
    assert_holds(&text, "  std::__new<int>  new.h:9\n");
    assert_holds(&text, "<- ... 2 more\n");
    assert_holds(&text, "<- std::map<int, int>::operator[](int)\n");
    assert_holds(&text, "<- fill\n");
    assert_holds(&text, "<- main\n");
    tide_text_release(&text);
    fixture_release(&f);
}

/* Nothing lives for no time: its birth and its death share a stamp. */
static void lives_that_the_clock_cannot_tell_are_not_nothing(void **state)
{
    (void)state;
    struct fixture f;
    struct tide_histograms lives = {0};
    fixture_init(&f);
    f.model.histograms = &lives;
    lives.life_ns.calls[0] = 7;
    lives.life_ns.calls[14] = 3; /* 2^13 ns */
    struct tide_text text = {0};
    struct tide_page page = {.out = &text, .style = &PLAIN};
    tide_view_lifetimes(&page, &f.model);
    assert_holds(
        &text,
        "  between two stamps                7         0 B\n"
        "  from 8.19 us                      3         0 B\n"
        "  Time is stamped every 85 events of a thread or so, of a single thread every\n  0.1 ms or 900 events,");
    assert_null(strstr(text.bytes, "0 ns"));
    tide_text_clear(&text);
    lives.life_ns.calls[0] = 0;
    tide_view_lifetimes(&page, &f.model);
    assert_null(strstr(text.bytes, "stamp"));
    tide_text_release(&text);
    f.model.histograms = NULL;
    fixture_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tree_shows_each_branch_with_its_share),
        cmocka_unit_test(a_line_of_the_tree_tells_of_others),
        cmocka_unit_test(a_chain_of_hundreds_of_calls_is_shown_by_its_ends),
        cmocka_unit_test(recursion_is_said_once),
        cmocka_unit_test(functions_without_names_are_one_step),
        cmocka_unit_test(no_bracket_of_recursion_stands_alone),
        cmocka_unit_test(the_flat_table_shows_self_and_inclusive),
        cmocka_unit_test(the_stacks_show_callers_below_callees),
        cmocka_unit_test(stacks_that_read_the_same_are_one_row),
        cmocka_unit_test(stacks_through_two_files_are_two_rows),
        cmocka_unit_test(a_deep_stack_is_cut_with_dots),
        cmocka_unit_test(recursion_takes_one_line_of_a_stack),
        cmocka_unit_test(the_inside_of_the_library_is_left_out),
        cmocka_unit_test(lives_that_the_clock_cannot_tell_are_not_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
